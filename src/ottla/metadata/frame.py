"""One batch, or one snapshot, as bytes of a file: a header with a checksum, then the records.

Promises  whatever was torn, cut short or changed is distinguished from what was written: a frame is
          read only if its checksum, its length and its count of records agree.
"""

from __future__ import annotations

from struct import Struct

from crc32c import crc32c

from ottla.metadata.codec import MalformedRecord, decode_records, encode_records
from ottla.metadata.image import Batch

BATCH = b"\xf0OB1"
SNAPSHOT = b"\xf0OS1"
# Magic, checksum of what follows it, length of the records, base offset, controller epoch, count.
_HEADER = Struct(">4sIIqiI")
_CHECKED_FROM = 8
HEADER_BYTES = _HEADER.size


class BadFrame(ValueError):
    """Bytes that are no whole frame; says what is wrong."""


def encode_frame(magic: bytes, batch: Batch) -> bytes:
    return encode_parts(magic, batch, encode_records(batch.records), len(batch.records))


def encode_parts(magic: bytes, batch: Batch, payload: bytes, count: int) -> bytes:
    """The same from records that are bytes already; those in `batch` are left aside."""
    header = bytearray(
        _HEADER.pack(magic, 0, len(payload), batch.base_offset, batch.controller_epoch, count)
    )
    header[4:8] = crc32c(payload, crc32c(bytes(header[_CHECKED_FROM:]))).to_bytes(4, "big")
    return bytes(header) + payload


def decode_frame(magic: bytes, data: memoryview) -> tuple[Batch, int]:
    """The frame at the beginning of `data`, and its size. BadFrame unless it is whole."""
    if len(data) < HEADER_BYTES:
        raise BadFrame(f"{len(data)} bytes, no room for a header")
    found, crc, length, base_offset, epoch, count = _HEADER.unpack_from(data)
    if found != magic:
        raise BadFrame("no frame begins here")
    end = HEADER_BYTES + length
    if end > len(data):
        raise BadFrame(f"a frame of {end} bytes, but {len(data)} are left")
    if crc32c(data[_CHECKED_FROM:end]) != crc:
        raise BadFrame("the checksum does not match")
    try:
        records = decode_records(bytes(data[HEADER_BYTES:end]))
    except MalformedRecord as error:
        raise BadFrame(str(error)) from error
    if len(records) != count or base_offset < 0:
        raise BadFrame(f"{len(records)} records at offset {base_offset}, announced were {count}")
    return Batch(base_offset, epoch, tuple(records)), end


def has_whole_frame(magic: bytes, data: memoryview) -> bool:
    """Whether a frame begins anywhere in `data`. The magic's first byte is in no record."""
    raw = bytes(data)
    at = raw.find(magic)
    while at >= 0:
        try:
            decode_frame(magic, data[at:])
        except BadFrame:
            at = raw.find(magic, at + 1)
        else:
            return True
    return False
