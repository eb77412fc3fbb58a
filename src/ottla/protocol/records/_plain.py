"""The record loops in plain Python, under the names that `_native.pyx` has.

Owns      nothing: the loops are in `_plain_reading`, `_plain_writing` and `_plain_columns`.
Promises  every function of the compiled module is here, with the same results and faults.
"""

from ottla.protocol.records._plain_columns import columns, encode_columns
from ottla.protocol.records._plain_reading import decode, index, skip, slices, walk
from ottla.protocol.records._plain_writing import encode, select

__all__ = [
    "columns",
    "decode",
    "encode",
    "encode_columns",
    "index",
    "select",
    "skip",
    "slices",
    "walk",
]
