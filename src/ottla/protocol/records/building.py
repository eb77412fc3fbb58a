"""Building record batches, for our own clients and the broker itself.

Owns      one batch from records, with header, compression and checksum.
Promises  the same result as Kafka's builder: relative timestamps are based on the first record's,
          or on the delete horizon if there is one.
Leaves    control records to `control.py`, columns of records to `column_building.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import NO_LEADER_EPOCH, NO_PRODUCER_EPOCH
from ottla.protocol.records import native
from ottla.protocol.records.batch import (
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    MAGIC,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Buffer,
    encode_header,
    stamp_checksum,
)
from ottla.protocol.records.compression import Codec, compress
from ottla.protocol.records.record import Record


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    codec: int = Codec.NONE,
    level: int | None = None,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    leader_epoch: int = NO_LEADER_EPOCH,
    log_append_time_ms: int | None = None,
    last_offset_delta: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytearray:
    """One batch with these records, whose offsets must increase from `base_offset` on.

    With `last_offset_delta`, compaction keeps the offset range of a batch whose last records were
    removed.
    """
    rows = list(records)
    base_timestamp = _base_timestamp(rows, delete_horizon_ms)
    body = native.encode(rows, base_offset, base_timestamp)
    max_timestamp = max((row.timestamp for row in rows), default=NO_TIMESTAMP)
    if last_offset_delta is None:
        last_offset_delta = rows[-1].offset - base_offset if rows else 0
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,  # set below, with the checksum
        partition_leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes_of(
            codec,
            is_log_append_time=log_append_time_ms is not None,
            is_transactional=is_transactional,
            is_control=is_control,
            has_delete_horizon=delete_horizon_ms is not None,
        ),
        last_offset_delta=last_offset_delta,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp if log_append_time_ms is None else log_append_time_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        records_count=len(rows),
    )
    return assemble(header, body, level)


def build_emptied_batch(header: BatchHeader) -> bytearray:
    """A batch without records that compaction keeps while its producer needs it: with the same
    offsets, timestamps and sequences."""
    return assemble(
        header._replace(
            attributes=header.attributes & (TIMESTAMP_TYPE_BIT | TRANSACTIONAL_BIT | CONTROL_BIT),
            base_timestamp=NO_TIMESTAMP,
            records_count=0,
        ),
        b"",
    )


def assemble(header: BatchHeader, body: Buffer, level: int | None = None) -> bytearray:
    """Header and records as one batch: compressed according to the header, with length and
    checksum."""
    if header.codec != Codec.NONE:
        body = compress(header.codec, body, level)
    batch = bytearray(HEADER_BYTES)
    batch += body
    seal(batch, header)
    return batch


def seal(batch: bytearray, header: BatchHeader) -> None:
    """Write the header into its reserved space, with length and checksum."""
    length = len(batch) - LENGTH_PREFIX_BYTES
    batch[:HEADER_BYTES] = encode_header(header._replace(batch_length=length))
    stamp_checksum(batch, 0, len(batch))


def attributes_of(
    codec: int,
    *,
    is_log_append_time: bool = False,
    is_transactional: bool = False,
    is_control: bool = False,
    has_delete_horizon: bool = False,
) -> int:
    return (
        codec
        | (TIMESTAMP_TYPE_BIT if is_log_append_time else 0)
        | (TRANSACTIONAL_BIT if is_transactional else 0)
        | (CONTROL_BIT if is_control else 0)
        | (DELETE_HORIZON_BIT if has_delete_horizon else 0)
    )


def _base_timestamp(rows: list[Record], delete_horizon_ms: int | None) -> int:
    if delete_horizon_ms is not None:
        return delete_horizon_ms
    return rows[0].timestamp if rows else NO_TIMESTAMP
