"""Record batches to Arrow tables, for Spark.

Owns      the Arrow schema of records, and which batches of a fetch response form one table.
Promises  every key, value and header is copied once; a fetch response becomes few large tables,
          whatever the size of its batches; memory is bounded by rows and bytes.
Leaves    the loops to `native.py`, the opposite direction to `arrow_building.py`, and the selection
          of batches (such as of aborted transactions) to the caller.

Needs pyarrow, the extra `arrow`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import native
from ottla.protocol.records.batch import BatchHeader, Buffer, has_valid_checksum, iterate_headers
from ottla.protocol.records.column_layout import (
    INT64_MAX,
    FilledHeaders,
    FilledStrings,
    RecordSegment,
)
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX
from ottla.protocol.records.reading import append_time_of, open_body

# Tables of this size stay in the processor's cache while they are filled, and their memory is
# reused: larger ones are up to twice as slow.
ROWS_MAX = 65_536
BYTES_MAX = 2 * 1024 * 1024

CREATE_TIME, LOG_APPEND_TIME = 0, 1
TIMESTAMP = pa.timestamp("ms", tz="UTC")
HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
FIELDS = [
    pa.field("offset", pa.int64(), nullable=False),
    pa.field("timestamp", TIMESTAMP, nullable=False),
    pa.field("timestamp_type", pa.int32(), nullable=False),
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
]
SCHEMA = pa.schema(FIELDS)
SCHEMA_WITH_HEADERS = pa.schema([*FIELDS, pa.field("headers", pa.list_(HEADER))])


def is_data(header: BatchHeader) -> bool:
    return not header.is_control


def read_arrow(
    data: Buffer,
    *,
    from_offset: int = 0,
    end_offset: int = INT64_MAX,
    with_headers: bool = False,
    is_wanted: Callable[[BatchHeader], bool] = is_data,
    check_checksums: bool = True,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
    bytes_max: int = BYTES_MAX,
) -> Iterator[pa.RecordBatch]:
    """The records of consecutive batches, as in a fetch response; an incomplete last batch is
    ignored.

    Only offsets from `from_offset` up to `end_offset` (exclusive), of selected batches. A table has
    at most ROWS_MAX rows and, unless a single batch is larger, `bytes_max` bytes.
    """
    pending = _Pending(with_headers, bytes_max)
    for position, header in iterate_headers(data):
        if header.last_offset < from_offset or header.base_offset >= end_offset:
            continue
        if not is_wanted(header):
            continue
        if check_checksums and not has_valid_checksum(data, position, header):
            raise InvalidBatch(
                ErrorCode.CORRUPT_MESSAGE, f"batch at offset {header.base_offset}: wrong checksum"
            )
        body = open_body(data, position, header, decompressed_bytes_max)
        for segment in segments_of(header, body, from_offset, end_offset):
            if not pending.fits(segment, header.is_log_append_time):
                yield pending.to_arrow()
                pending = _Pending(with_headers, bytes_max)
            pending.add(segment, header.is_log_append_time)
    if pending.segments:
        yield pending.to_arrow()


def segments_of(
    header: BatchHeader, body: Buffer, from_offset: int, end_offset: int
) -> Iterator[RecordSegment]:
    """The records of one batch in segments of at most ROWS_MAX."""
    first, position, count = 0, 0, header.records_count
    while True:
        rows = min(ROWS_MAX, count - first)
        is_last = first + rows == count
        yield RecordSegment(
            body, position, len(body), first, rows, is_last, header.base_offset,
            header.base_timestamp, append_time_of(header), from_offset, end_offset,
        )  # fmt: skip
        if is_last:
            return
        position = native.skip(body, position, len(body), first, rows)
        first += rows


class _Pending:
    """Segments of the next table."""

    def __init__(self, with_headers: bool, bytes_max: int) -> None:
        self.with_headers = with_headers
        self.bytes_max = bytes_max
        self.segments: list[RecordSegment] = []
        self.rows = 0
        self.bytes = 0
        self.is_append_time = False

    def fits(self, segment: RecordSegment, is_append_time: bool) -> bool:
        if not self.segments:
            return True
        return (
            is_append_time == self.is_append_time
            and self.rows + segment.records_count <= ROWS_MAX
            and self.bytes + segment.end - segment.position <= self.bytes_max
        )

    def add(self, segment: RecordSegment, is_append_time: bool) -> None:
        self.segments.append(segment)
        self.rows += segment.records_count
        self.bytes += segment.end - segment.position
        self.is_append_time = is_append_time

    def to_arrow(self) -> pa.RecordBatch:
        rows, offsets, timestamps, keys, values, headers = native.columns(
            self.segments, self.with_headers
        )
        timestamp_type = LOG_APPEND_TIME if self.is_append_time else CREATE_TIME
        arrays = [
            pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(offsets)]),
            pa.Array.from_buffers(TIMESTAMP, rows, [None, pa.py_buffer(timestamps)]),
            pa.repeat(pa.scalar(timestamp_type, pa.int32()), rows),
            string_array(keys, rows),
            string_array(values, rows),
        ]
        if headers is None:
            return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
        arrays.append(header_array(headers, rows))
        return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA_WITH_HEADERS)


def string_array(column: FilledStrings, rows: int) -> pa.Array:
    ends, valid, data, nulls = column
    buffers = [None if valid is None else pa.py_buffer(valid), pa.py_buffer(ends)]
    return pa.Array.from_buffers(pa.binary(), rows, [*buffers, pa.py_buffer(data)], nulls)


def header_array(headers: FilledHeaders, rows: int) -> pa.Array:
    ends, count, keys, values = headers
    structs = pa.StructArray.from_arrays(
        [text_array(string_array(keys, count)), string_array(values, count)], fields=list(HEADER)
    )
    return pa.Array.from_buffers(
        pa.list_(HEADER), rows, [None, pa.py_buffer(ends)], children=[structs]
    )


def text_array(keys: pa.Array) -> pa.Array:
    """Header keys as text. Invalid UTF-8 is replaced: Arrow does not validate it."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.as_py().decode("utf-8", "replace") for key in keys], pa.string())
