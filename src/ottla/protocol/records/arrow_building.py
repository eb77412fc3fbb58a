"""Arrow tables to record batches, for Spark.

Owns      reading the columns `key`, `value`, `headers` and `timestamp` of a table.
Promises  strings and bytes are not copied in between, large or not, sliced or whole.
Leaves    splitting rows into batches to `column_building.py`.

Needs pyarrow, the extra `arrow`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.column_building import (
    ColumnBatch,
    ColumnBatchSettings,
    RowColumns,
    build_column_batches,
)
from ottla.protocol.records.column_layout import HeaderColumns, ListColumn, StringColumn

INT64_BYTES = 8


def build_arrow_batches(
    table: pa.RecordBatch, settings: ColumnBatchSettings, *, now_ms: int
) -> Iterator[ColumnBatch]:
    """Batches with all rows of the table, in order; `now_ms` is for rows without a timestamp."""
    yield from build_column_batches(rows_of(table, now_ms), settings)


def rows_of(table: pa.RecordBatch, now_ms: int) -> RowColumns:
    """The columns by name; each is optional. Other columns are ignored."""

    def column(name: str) -> pa.Array | None:
        return table.column(name) if name in table.schema.names else None

    keys, values, headers = column("key"), column("value"), column("headers")
    return RowColumns(
        rows=table.num_rows,
        timestamps=timestamp_buffer(column("timestamp"), table.num_rows, now_ms),
        keys=None if keys is None else string_column(keys),
        values=None if values is None else string_column(values),
        headers=None if headers is None else header_columns(headers),
    )


def timestamp_buffer(timestamps: pa.Array | None, rows: int, now_ms: int) -> Buffer:
    if timestamps is None:
        return now_ms.to_bytes(INT64_BYTES, "little", signed=True) * rows
    if pa.types.is_timestamp(timestamps.type):
        timestamps = timestamps.cast(pa.timestamp("ms", timestamps.type.tz), safe=False)
    timestamps = timestamps.cast(pa.int64())
    if timestamps.null_count:
        timestamps = pc.fill_null(timestamps, now_ms)
    start = INT64_BYTES * timestamps.offset
    return memoryview(timestamps.buffers()[1] or b"")[start : start + INT64_BYTES * rows]


def string_column(strings: pa.Array) -> StringColumn:
    kind = strings.type
    is_large = pa.types.is_large_binary(kind) or pa.types.is_large_string(kind)
    if not (is_large or pa.types.is_binary(kind) or pa.types.is_string(kind)):
        strings = strings.cast(pa.binary())
    valid, ends, data = strings.buffers()
    return StringColumn(
        data=data or b"",
        ends=_ends_or_zero(ends),
        is_large=is_large,
        valid=valid if strings.null_count else None,
        shift=strings.offset,
        rows=len(strings),
    )


def header_columns(lists: pa.Array) -> HeaderColumns:
    is_large = pa.types.is_large_list(lists.type)
    if not (is_large or pa.types.is_list(lists.type)):
        raise TypeError(f"headers are a list of (key, value) structs, not {lists.type}")
    valid, ends = lists.buffers()[:2]
    keys, values = lists.values.flatten()
    return HeaderColumns(
        lists=ListColumn(
            ends=_ends_or_zero(ends),
            is_large=is_large,
            valid=valid if lists.null_count else None,
            shift=lists.offset,
            rows=len(lists),
        ),
        keys=string_column(keys),
        values=string_column(values),
    )


def _ends_or_zero(ends: pa.Buffer | None) -> Buffer:
    """Arrow may omit the offsets of an array without rows."""
    return ends if ends is not None and ends.size else bytes(INT64_BYTES)
