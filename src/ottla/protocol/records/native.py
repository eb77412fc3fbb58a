"""The record loops: the compiled ones if they could be built, otherwise those in Python.

Owns      the choice between `_native` and `_plain`, made at import.
Promises  both have the same functions, results and faults; only the speed differs.
"""

try:
    from ottla.protocol.records._native import (
        add_hashes,
        columns,
        decode,
        encode,
        encode_columns,
        finish_hashes,
        fold_columns,
        fold_segments,
        group_rows,
        index,
        key_partitions,
        select,
        skip,
        slices,
        walk,
        xxh64,
    )

    IMPLEMENTATION = "compiled"
except ImportError:  # built without a compiler
    from ottla.protocol.records._plain import (
        add_hashes,
        columns,
        decode,
        encode,
        encode_columns,
        finish_hashes,
        fold_columns,
        fold_segments,
        group_rows,
        index,
        key_partitions,
        select,
        skip,
        slices,
        walk,
        xxh64,
    )

    IMPLEMENTATION = "plain Python"

__all__ = [
    "IMPLEMENTATION",
    "add_hashes",
    "columns",
    "decode",
    "encode",
    "encode_columns",
    "finish_hashes",
    "fold_columns",
    "fold_segments",
    "group_rows",
    "index",
    "key_partitions",
    "select",
    "skip",
    "slices",
    "walk",
    "xxh64",
]
