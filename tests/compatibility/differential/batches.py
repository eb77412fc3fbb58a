"""Batches for scripts: whole ones, and ones that are wrong in a single way."""

from __future__ import annotations

from collections.abc import Callable

from ottla.protocol.records.batch import BatchHeader, encode_header, read_header, stamp_checksum
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

TIME_MS = 1_700_000_000_000


def batch(
    *values: bytes | None,
    key: bytes | None = None,
    time_ms: int = TIME_MS,
    producer: tuple[int, int, int] = (-1, -1, -1),
    codec: int = 0,
    is_transactional: bool = False,
    is_control: bool = False,
    base_offset: int = 0,
    leader_epoch: int = -1,
    headers: tuple[tuple[str, bytes | None], ...] = (),
) -> bytearray:
    """Records one millisecond apart. `producer` is id, epoch and base sequence."""
    rows = [
        Record(base_offset + at, time_ms + at, key, value, headers)
        for at, value in enumerate(values)
    ]
    return build_batch(
        rows,
        base_offset=base_offset,
        codec=codec,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=producer[2],
        is_transactional=is_transactional,
        is_control=is_control,
        leader_epoch=leader_epoch,
    )


def mixed(*keys: bytes | None) -> bytearray:
    """One record for each key."""
    return build_batch([Record(at, TIME_MS, key, b"v") for at, key in enumerate(keys)])


def changed(data: bytes | bytearray, **fields: int) -> bytearray:
    """The same batch with other header fields, and a checksum that is right again."""
    out = changed_blindly(data, **fields)
    stamp_checksum(out, 0, len(out))
    return out


def changed_blindly(data: bytes | bytearray, **fields: int) -> bytearray:
    """The same batch with other header fields and the checksum as it was, or as given."""
    header: BatchHeader = read_header(data)._replace(**fields)
    return bytearray(encode_header(header)) + data[61:]


def with_body(data: bytes | bytearray, change: Callable[[bytes], bytes]) -> bytearray:
    """The same batch with other bytes behind the header; length and checksum are right."""
    header, body = read_header(data), change(bytes(data[61:]))
    out = bytearray(encode_header(header._replace(batch_length=49 + len(body)))) + body
    stamp_checksum(out, 0, len(out))
    return out


def old_message_set(magic: int, value: bytes = b"old") -> bytes:
    """One uncompressed message as clients before 0.11 sent it."""
    import struct
    import zlib

    body = struct.pack(">bb", magic, 0)
    body += struct.pack(">q", TIME_MS) if magic else b""
    body += struct.pack(">ii", -1, len(value)) + value
    body = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", 0, len(body)) + body
