"""The 61-byte header of a record batch: reading, checking and stamping it in place.

Owns      the layout of a batch (magic 2) and the meaning of its attribute bits.
Promises  a header is read without accessing the records; stamping changes no byte that the checksum
          covers, except where timestamps or attributes are rewritten.
Leaves    the records to `reading.py` and `building.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from ottla.base.checksums import crc32c
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch

Buffer = bytes | bytearray | memoryview

HEADER_BYTES = 61
LENGTH_PREFIX_BYTES = 12  # base offset and batch length, not included in `batch_length`
MAGIC = 2
MAGIC_POSITION = 16
CRC_POSITION = 17
CHECKED_FROM = 21  # the checksum covers everything from the attributes on

NO_PRODUCER_ID = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1

CODEC_MASK = 0x07
TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40
KNOWN_ATTRIBUTES = 0x7F  # defined bits; others are lost when a broker rewrites the batch

_HEADER = Struct(">qiiBIhiqqqhii")
_PLACE = Struct(">qii")  # base offset, batch length, leader epoch
_OFFSET = Struct(">q")
_EPOCH = Struct(">i")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_new = tuple.__new__  # faster than `_make`, which checks the number of values


class BatchHeader(NamedTuple):
    """The fixed fields of one batch, in wire order."""

    base_offset: int
    batch_length: int  # from the leader epoch on
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int  # the delete horizon, if that attribute bit is set
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size_bytes(self) -> int:
        """The whole batch, with its header."""
        return LENGTH_PREFIX_BYTES + self.batch_length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & TIMESTAMP_TYPE_BIT)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID

    @property
    def delete_horizon_ms(self) -> int | None:
        """The time from which compaction may remove tombstones and markers of this batch."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    @property
    def last_sequence(self) -> int:
        """Sequences wrap from 2**31 - 1 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF


def read_header(data: Buffer, position: int = 0) -> BatchHeader:
    """The header at `position`; InvalidBatch if it is incomplete. Checks nothing else."""
    if len(data) - position < HEADER_BYTES:
        raise InvalidBatch(
            ErrorCode.CORRUPT_MESSAGE,
            f"batch at {position}: {len(data) - position} bytes left, a header has {HEADER_BYTES}",
        )
    return BatchHeader._make(_HEADER.unpack_from(data, position))


def iterate_headers(data: Buffer, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of every complete batch; stops before an incomplete one at the end.

    InvalidBatch for an impossible length or another magic than 2.
    """
    end = len(data)
    while end - position >= HEADER_BYTES:
        header = BatchHeader._make(_HEADER.unpack_from(data, position))
        size = check_structure(header, position)
        if size > end - position:
            return
        yield position, header
        position += size


def check_structure(header: BatchHeader, position: int = 0) -> int:
    """The size of the batch, if magic and length are plausible."""
    if header.magic != MAGIC:
        raise InvalidBatch(
            ErrorCode.CORRUPT_MESSAGE, f"batch at {position}: magic {header.magic}, not {MAGIC}"
        )
    size = LENGTH_PREFIX_BYTES + header.batch_length
    if size < HEADER_BYTES:
        raise InvalidBatch(
            ErrorCode.CORRUPT_MESSAGE,
            f"batch at {position}: length {header.batch_length} is too small",
        )
    return size


def checksum(data: Buffer, position: int, size: int) -> int:
    """CRC-32C over the bytes that the header's checksum covers, without copying."""
    with memoryview(data) as view:
        return int(crc32c(view[position + CHECKED_FROM : position + size]))


def has_valid_checksum(data: Buffer, position: int, header: BatchHeader) -> bool:
    return checksum(data, position, header.size_bytes) == header.crc


def stamp_offset_and_epoch(
    data: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int
) -> None:
    """Set base offset and leader epoch, which the checksum does not cover."""
    _OFFSET.pack_into(data, position, base_offset)
    _EPOCH.pack_into(data, position + LENGTH_PREFIX_BYTES, leader_epoch)


def stamp_single_batch(
    data: bytearray | memoryview, header: BatchHeader, base_offset: int, leader_epoch: int
) -> BatchHeader:
    """As `stamp_offset_and_epoch`, for the only batch in `data`; returns its new header."""
    _PLACE.pack_into(data, 0, base_offset, header.batch_length, leader_epoch)
    return _new(BatchHeader, (base_offset, header.batch_length, leader_epoch, *header[3:]))


def stamp_log_append_time(
    data: bytearray | memoryview, position: int, header: BatchHeader, now_ms: int
) -> None:
    """Mark the batch as LogAppendTime at `now_ms` and update its checksum.

    Only the maximum changes: readers use it as the timestamp of every record of such a batch.
    """
    attributes = header.attributes & KNOWN_ATTRIBUTES | TIMESTAMP_TYPE_BIT
    _ATTRIBUTES.pack_into(data, position + 21, attributes)
    _OFFSET.pack_into(data, position + 35, now_ms)
    stamp_checksum(data, position, header.size_bytes)


def stamp_checksum(data: bytearray | memoryview, position: int, size: int) -> None:
    _CRC.pack_into(data, position + CRC_POSITION, checksum(data, position, size))


def encode_header(header: BatchHeader) -> bytes:
    return _HEADER.pack(*header)
