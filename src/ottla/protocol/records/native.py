"""The record loops: the compiled ones if they could be built, otherwise those in Python.

Owns      the choice between `_native` and `_plain`, made at import.
Promises  both have the same functions, results and faults; only the speed differs.
"""

try:
    from ottla.protocol.records._native import (
        columns,
        decode,
        encode,
        encode_columns,
        group_rows,
        index,
        key_partitions,
        select,
        skip,
        slices,
        walk,
    )

    IMPLEMENTATION = "compiled"
except ImportError:  # built without a compiler
    from ottla.protocol.records._plain import (
        columns,
        decode,
        encode,
        encode_columns,
        group_rows,
        index,
        key_partitions,
        select,
        skip,
        slices,
        walk,
    )

    IMPLEMENTATION = "plain Python"

__all__ = [
    "IMPLEMENTATION",
    "columns",
    "decode",
    "encode",
    "encode_columns",
    "group_rows",
    "index",
    "key_partitions",
    "select",
    "skip",
    "slices",
    "walk",
]
