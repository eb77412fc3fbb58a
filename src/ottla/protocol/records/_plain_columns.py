"""Columns of records in Python, used if the compiled loops could not be built.

Owns      columns from records, and records from columns.
Promises  the same bytes as `_native.pyx`, function by function.
Leaves    Arrow objects to `arrow.py`; callers use `native.py`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from ottla.protocol.records._plain_reading import (
    INT32_MAX,
    header_slices,
    iterate_fields,
    part_of,
)
from ottla.protocol.records._plain_writing import write_record
from ottla.protocol.records._varints import wrap_int64
from ottla.protocol.records.batch import NO_TIMESTAMP, Buffer
from ottla.protocol.records.column_layout import (
    FilledColumns,
    FilledHeaders,
    FilledStrings,
    HeaderColumns,
    ListColumn,
    RecordSegment,
    StringColumn,
)


def columns(segments: Iterable[RecordSegment], with_headers: bool) -> FilledColumns:
    """The records of all segments, with columns for offset, timestamp, key, value, headers."""
    parts = list(segments)
    _check_sizes(parts)
    offsets, timestamps = array("q"), array("q")
    keys, values, headers = _Strings(), _Strings(), _Headers()
    for segment in parts:
        body = part_of(segment.data, segment.position, segment.end)
        for fields in iterate_fields(
            body, 0, segment.first, segment.records_count, segment.is_last
        ):
            offset = wrap_int64(segment.base_offset + fields[3])
            if not segment.from_offset <= offset < segment.end_offset:
                continue
            offsets.append(offset)
            timestamp = wrap_int64(segment.base_timestamp + fields[2])
            timestamps.append(timestamp if segment.append_time is None else segment.append_time)
            keys.append(body[fields[4] : fields[4] + fields[5]] if fields[5] >= 0 else None)
            values.append(body[fields[6] : fields[6] + fields[7]] if fields[7] >= 0 else None)
            if with_headers:
                headers.append(header_slices(body, fields[8], fields[9]))
    return (
        len(offsets), bytearray(offsets), bytearray(timestamps), keys.filled(), values.filled(),
        headers.filled() if with_headers else None,
    )  # fmt: skip


def _check_sizes(parts: list[RecordSegment]) -> None:
    for part in parts:
        if not 0 <= part.position <= part.end <= len(part.data):
            raise ValueError(f"bytes {part.position} to {part.end} of {len(part.data)}")
    size = sum(part.end - part.position for part in parts)
    if size > INT32_MAX:
        raise ValueError(f"records of {size} bytes do not fit into one column")


class _Strings:
    """A column of byte strings under construction."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ends = array("i", [0])
        self.valid: list[bool] = []

    def append(self, field: bytes | None) -> None:
        if field:
            self.data += field
        self.ends.append(len(self.data))
        self.valid.append(field is not None)

    def filled(self) -> FilledStrings:
        nulls = self.valid.count(False)
        return bytearray(self.ends), _pack_bits(self.valid) if nulls else None, self.data, nulls


class _Headers:
    def __init__(self) -> None:
        self.ends = array("i", [0])
        self.keys, self.values = _Strings(), _Strings()

    def append(self, headers: Iterable[tuple[bytes, bytes | None]]) -> None:
        for key, value in headers:
            self.keys.append(key)
            self.values.append(value)
        self.ends.append(len(self.keys.valid))

    def filled(self) -> FilledHeaders:
        count = len(self.keys.valid)
        return bytes(self.ends), count, self.keys.filled(), self.values.filled()


def _pack_bits(flags: list[bool]) -> bytearray:
    bits = bytearray((len(flags) + 7) // 8)
    for row, flag in enumerate(flags):
        bits[row >> 3] |= flag << (row & 7)
    return bits


def encode_columns(
    first: int,
    end_row: int,
    bytes_max: int,
    base_timestamp: int,
    timestamps: Buffer,
    keys: StringColumn | None,
    values: StringColumn | None,
    headers: HeaderColumns | None,
    reserve: int,
) -> tuple[bytearray, int, int]:
    """The body of a batch from rows `first` on: as many as fit into `bytes_max`, at least one.

    `reserve` bytes before it stay free. Also returns the row after the last one, and the largest
    timestamp. Offsets start at 0.
    """
    if first < 0 or end_row < first or reserve < 0:
        raise ValueError(f"rows {first} to {end_row}")
    times = memoryview(timestamps).cast("B").cast("q")
    _check_columns(len(times), end_row, keys, values, headers)
    output, most = bytearray(reserve), NO_TIMESTAMP
    for row in range(first, end_row):
        record = bytearray()
        write_record(
            record,
            wrap_int64(times[row] - base_timestamp),
            row - first,
            _string_at(keys, row),
            _string_at(values, row),
            _headers_at(headers, row) if headers else (),
        )
        if row > first and len(output) - reserve + len(record) > bytes_max:
            return output, row, most
        output += record
        most = max(most, times[row])
    return output, end_row, most


def _check_columns(
    times: int,
    end_row: int,
    keys: StringColumn | None,
    values: StringColumn | None,
    headers: HeaderColumns | None,
) -> None:
    if times < end_row:
        raise ValueError("fewer timestamps than rows")
    for column in (keys, values, headers and headers.lists):
        if column is not None and column.rows < end_row:
            raise ValueError("a column is shorter than the others")
    for column in (keys, values, *(headers or ())):
        if column is not None:
            _check_column(column)


def _check_column(column: StringColumn | ListColumn) -> None:
    end = column.shift + column.rows
    if column.shift < 0 or column.rows < 0:
        raise ValueError("a column cannot begin or end there")
    if len(memoryview(column.ends).cast("B")) // (8 if column.is_large else 4) < end + 1:
        raise ValueError("a column has fewer offsets than rows")
    if column.valid is not None and len(memoryview(column.valid).cast("B")) < (end + 7) // 8:
        raise ValueError("a column has fewer validity bits than rows")


def _range_at(column: StringColumn | ListColumn, row: int, size: int) -> tuple[int, int] | None:
    """(start, end) of a row according to the column's offsets, or None for null."""
    bit = column.shift + row
    if column.valid is not None:
        valid = memoryview(column.valid).cast("B")
        if not valid[bit >> 3] >> (bit & 7) & 1:
            return None
    ends = memoryview(column.ends).cast("B").cast("q" if column.is_large else "i")
    start, end = ends[bit], ends[bit + 1]
    if not 0 <= start <= end <= size or end - start > INT32_MAX:
        raise ValueError(f"row {row} is inconsistent or too large for a record")
    return start, end


def _string_at(column: StringColumn | None, row: int) -> Buffer | None:
    if column is None:
        return None
    data = memoryview(column.data).cast("B")
    span = _range_at(column, row, len(data))
    return None if span is None else data[span[0] : span[1]]


def _headers_at(headers: HeaderColumns, row: int) -> list[tuple[Buffer, Buffer | None]]:
    span = _range_at(headers.lists, row, min(headers.keys.rows, headers.values.rows))
    found: list[tuple[Buffer, Buffer | None]] = []
    for header in range(*span) if span else ():
        key = _string_at(headers.keys, header)
        if key is None:
            raise ValueError(f"row {row} is inconsistent or too large for a record")
        found.append((key, _string_at(headers.values, header)))
    return found
