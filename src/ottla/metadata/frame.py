"""One batch or snapshot as bytes: a header with a checksum, followed by the records.

Promises  torn, truncated and modified frames are detected: a frame is valid only if its checksum,
          its length and its record count agree.
"""

from __future__ import annotations

from struct import Struct

from ottla.base.checksums import crc32c
from ottla.metadata.codec import (
    MalformedRecord,
    UnknownRecord,
    decode_records,
    encode_records,
)
from ottla.metadata.image import Batch

BATCH = b"\xf0OB1"
SNAPSHOT = b"\xf0OS1"
# Magic, checksum of what follows it, length of the records, base offset, controller epoch, count.
_HEADER = Struct(">4sIIqiI")
_CHECKED_FROM = 8
HEADER_BYTES = _HEADER.size


class BadFrame(ValueError):
    """The bytes are not a valid frame; the message gives the reason."""


class UnreadableFrame(BadFrame):
    """The checksum is right, and the records cannot be decoded: this is not the effect of a
    crash."""


class NewerFrame(UnreadableFrame):
    """The frame has records that only a newer version knows."""


def encode_frame(magic: bytes, batch: Batch) -> bytes:
    return encode_parts(magic, batch, encode_records(batch.records), len(batch.records))


def encode_parts(magic: bytes, batch: Batch, payload: bytes, count: int) -> bytes:
    """The same from encoded records; those in `batch` are ignored."""
    header = bytearray(
        _HEADER.pack(magic, 0, len(payload), batch.base_offset, batch.controller_epoch, count)
    )
    header[4:8] = crc32c(payload, crc32c(bytes(header[_CHECKED_FROM:]))).to_bytes(4, "big")
    return bytes(header) + payload


def decode_frame(magic: bytes, data: memoryview) -> tuple[Batch, int]:
    """The frame at the start of `data`, and its size. BadFrame unless it is valid."""
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
    except UnknownRecord as error:
        raise NewerFrame(str(error)) from error
    except MalformedRecord as error:
        raise UnreadableFrame(str(error)) from error
    if len(records) != count or base_offset < 0:
        raise BadFrame(f"{len(records)} records at offset {base_offset}, announced were {count}")
    return Batch(base_offset, epoch, tuple(records)), end


def has_whole_frame(magic: bytes, data: memoryview) -> bool:
    """Whether a frame starts anywhere in `data`. The first byte of the magic occurs in no
    record."""
    raw = bytes(data)
    at = raw.find(magic)
    while at >= 0:
        try:
            decode_frame(magic, data[at:])
        except UnreadableFrame:
            return True
        except BadFrame:
            at = raw.find(magic, at + 1)
        else:
            return True
    return False
