"""Building record batches from columns: millions of records a second, without an object per record.

Owns      splitting rows into batches of a given size, and their headers.
Promises  the same bytes as `build_batch` for the same records.
Leaves    the loops to `native.py`, Arrow objects to `arrow.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ottla.base.ids import NO_LEADER_EPOCH, NO_PRODUCER_EPOCH
from ottla.protocol.records import native
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    MAGIC,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    BatchHeader,
    Buffer,
)
from ottla.protocol.records.building import assemble, attributes_of, seal
from ottla.protocol.records.column_layout import HeaderColumns, StringColumn
from ottla.protocol.records.compression import Codec

SEQUENCE_MASK = 0x7FFFFFFF  # sequences wrap from 2**31 - 1 to 0


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Rows to send: timestamps (int64, milliseconds), keys, values, headers."""

    rows: int
    timestamps: Buffer
    keys: StringColumn | None
    values: StringColumn | None
    headers: HeaderColumns | None = None

    def timestamp_at(self, row: int) -> int:
        return memoryview(self.timestamps).cast("B").cast("q")[row]


@dataclass(frozen=True, slots=True)
class ColumnBatchSettings:
    """The settings of all batches of one producer; sequences continue from batch to batch."""

    bytes_max: int = 1_000_000  # of records, before compression
    codec: int = Codec.NONE
    level: int | None = None
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    is_transactional: bool = False


class ColumnBatch(NamedTuple):
    batch: bytearray
    first_row: int
    end_row: int


def build_column_batches(rows: RowColumns, settings: ColumnBatchSettings) -> Iterator[ColumnBatch]:
    """All rows in order, split into batches with at least one row each."""
    first = 0
    while first < rows.rows:
        built = _build_one(rows, first, settings)
        yield built
        first = built.end_row


def _build_one(rows: RowColumns, first: int, settings: ColumnBatchSettings) -> ColumnBatch:
    base_timestamp = rows.timestamp_at(first)
    batch, end_row, max_timestamp = native.encode_columns(
        first, rows.rows, settings.bytes_max, base_timestamp,
        rows.timestamps, rows.keys, rows.values, rows.headers, HEADER_BYTES,
    )  # fmt: skip
    header = BatchHeader(
        base_offset=0,
        batch_length=0,  # set by `seal`, with the checksum
        partition_leader_epoch=NO_LEADER_EPOCH,
        magic=MAGIC,
        crc=0,
        attributes=attributes_of(settings.codec, is_transactional=settings.is_transactional),
        last_offset_delta=end_row - first - 1,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=settings.producer_id,
        producer_epoch=settings.producer_epoch,
        base_sequence=_sequence_at(settings.base_sequence, first),
        records_count=end_row - first,
    )
    if settings.codec == Codec.NONE:
        seal(batch, header)
    else:
        batch = assemble(header, memoryview(batch)[HEADER_BYTES:], settings.level)
    return ColumnBatch(batch, first, end_row)


def _sequence_at(base_sequence: int, row: int) -> int:
    return base_sequence if base_sequence == NO_SEQUENCE else (base_sequence + row) & SEQUENCE_MASK
