"""Hashes of whole rows of a lake: what was written must be what is read later.

Owns      the bytes of a value of each Arrow type that are hashed.
Promises  the hash of a row does not depend on the order of its columns, on columns that are null in
          it (so that a column added later changes no hash), on the width of integers, nor on the
          format that the row was stored in. It does depend on which value is in which column.
Leaves    the loops to `protocol.records`, where the definition of the hash is too.

Integers, booleans, dates and times are hashed as int64, timestamps as microseconds since 1970,
floating-point numbers as float64 (little-endian all), texts and bytes as they are, decimals as
text, the fields of a struct as columns `struct.field`, and lists and maps as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa

from ottla.protocol.records import native
from ottla.protocol.records.arrow_building import string_column


def row_hashes(batch: pa.RecordBatch, columns: Collection[str] | None = None) -> bytearray:
    """A hash (uint64) of each row, over these columns; None stands for all."""
    hashes = bytearray(8 * batch.num_rows)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if columns is None or name in columns:
            for full_name, strings in _strings_of(name, column):
                native.add_hashes(hashes, string_column(strings), native.xxh64(full_name.encode()))
    native.finish_hashes(hashes)
    return hashes


def _strings_of(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_struct(kind):
        for number, child in enumerate(column.flatten()):
            yield from _strings_of(f"{name}.{kind.field(number).name}", child)
    elif pa.types.is_nested(kind):
        yield name, pa.array([_json_of(each.as_py()) for each in column], pa.string())
    elif not pa.types.is_null(kind):
        yield name, _canonical(column)


def _canonical(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_floating(kind):
        return column.cast(pa.float64()).view(pa.binary(8)).cast(pa.binary())
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64())
    elif pa.types.is_date64(kind):
        column = column.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    elif pa.types.is_decimal(kind):
        return column.cast(pa.string())
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.int64(), safe=False)
        return column.view(pa.binary(8)).cast(pa.binary())
    if column.type in (pa.string_view(), pa.binary_view()):
        return column.cast(pa.binary())
    return column


def _json_of(value: Any) -> str | None:
    if value is None:
        return None
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_text_of)


def _text_of(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
