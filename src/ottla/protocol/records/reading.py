"""Iterating over the records of a batch.

Owns      the body of a batch, decompressed within a limit, and the timestamps of its records.
Promises  any bytes result in records or InvalidBatch; memory is bounded by the limit, whatever the
          batch claims; gaps left by compaction are valid.
Leaves    checksums to `batch.py`, validation of produced batches to `checking.py`, and reading by
          columns, which is many times faster, to `record_index.py` and `arrow.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import native
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    BatchHeader,
    Buffer,
    check_structure,
    read_header,
)
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX, decompress
from ottla.protocol.records.faults import InvalidRecord
from ottla.protocol.records.record import Record

RECORDS_PER_STEP = 1024  # objects in memory at a time, however many records a batch has


def iterate_records(
    batch: Buffer, position: int = 0, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> Iterator[Record]:
    """The records of the batch at `position`. A fault may be raised after some records."""
    header = read_header(batch, position)
    body = bytes(open_body(batch, position, header, decompressed_bytes_max))
    append_time = append_time_of(header)
    at, first, count = 0, 0, header.records_count
    while True:
        step = min(RECORDS_PER_STEP, count - first)
        try:
            records, at = native.decode(
                body, at, first, step, first + step == count,
                header.base_offset, header.base_timestamp, append_time,
            )  # fmt: skip
        except InvalidRecord as error:
            what = f"{_shown_batch(header, position)}: {error.message}"
            raise InvalidRecord(error.code, what, error.record) from None
        yield from records
        first += step
        if first == count:
            return


def append_time_of(header: BatchHeader) -> int | None:
    """The timestamp of every record of a LogAppendTime batch; None if records have their own."""
    return header.max_timestamp if header.is_log_append_time else None


def open_body(
    batch: Buffer,
    position: int,
    header: BatchHeader,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> Buffer:
    """The records of a batch as bytes: a view, or the decompressed data."""
    size = check_structure(header, position)
    if size > len(batch) - position:
        raise InvalidBatch(
            ErrorCode.CORRUPT_MESSAGE,
            f"batch at {position}: {size} bytes long, {len(batch) - position} are there",
        )
    body = memoryview(batch)[position + HEADER_BYTES : position + size]
    if header.records_count == 0 and not body:
        return body  # a batch emptied by compaction keeps its codec, but has no data
    try:
        return decompress(header.codec, body, decompressed_bytes_max)
    except InvalidBatch as error:
        what = f"{_shown_batch(header, position)}: {error.message}"
        raise InvalidBatch(error.code, what) from None


def _shown_batch(header: BatchHeader, position: int) -> str:
    return f"batch at {position}, base offset {header.base_offset}"
