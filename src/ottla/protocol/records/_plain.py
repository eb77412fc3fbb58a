"""The record loops in Python, with the same functions as `_native.pyx`.

Owns      nothing: the loops are in `_plain_reading`, `_plain_writing`, `_plain_columns`,
          `_plain_partitions` and `_plain_sums`.
Promises  every function of the compiled module, with the same results and faults.
"""

from ottla.protocol.records._plain_columns import columns, encode_columns
from ottla.protocol.records._plain_partitions import group_rows, key_partitions
from ottla.protocol.records._plain_reading import decode, index, skip, slices, walk
from ottla.protocol.records._plain_sums import (
    add_hashes,
    finish_hashes,
    fold_columns,
    fold_segments,
    xxh64,
)
from ottla.protocol.records._plain_writing import encode, select

__all__ = [
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
