"""Scanning the batches of a record file, with or without checking them.

Owns      reading a file in pieces of bounded size, and finding where a batch begins.
Promises  never reads past `end`, never allocates by a number found in the file; what is wrong is a
          CorruptLogError with the position of the batch.
Leaves    what follows from a bad batch (cutting, refusing to serve) to the callers.
Threads   the functions touch nothing but the file, so they may run in any thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from ottla.base.checksums import crc32c
from ottla.base.files.filesystem import File
from ottla.base.files.readers import BLOCKING, Reader
from ottla.protocol.records.batch import (
    CHECKED_FROM,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    MAGIC,
    MAGIC_POSITION,
    BatchHeader,
)
from ottla.storage.errors import CorruptLogError

HEADER_READ_BYTES = 4096
CHECK_READ_BYTES = 1 << 20

_HEADER = Struct(">qiiBIhiqqqhii")
_unpack = _HEADER.unpack_from
_make = BatchHeader._make


def scan_headers(
    reader: Reader, file: File, position: int, end: int
) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of every batch in between; reads the headers and few other bytes.

    Offsets must go up: the checksum leaves them out, but this finds most damage to them.
    """
    chunk, chunk_start, next_offset = b"", position, 0
    while position < end:
        at = position - chunk_start
        if len(chunk) - at < HEADER_BYTES:
            chunk = reader.read(file, position, min(HEADER_READ_BYTES, end - position))
            chunk_start, at = position, 0
            if len(chunk) < HEADER_BYTES:
                raise _cut_off(file, position, end)
        header = _make(_unpack(chunk, at))
        base_offset, length, epoch, magic, _, _, delta = header[:7]
        size = LENGTH_PREFIX_BYTES + length
        if magic != MAGIC or epoch < -1 or not HEADER_BYTES <= size <= end - position:
            raise _no_batch(file, position, header, end)
        if base_offset < next_offset or delta < 0:
            raise _wrong_offsets(file, position, header, next_offset)
        next_offset = base_offset + delta + 1
        yield position, header
        position += size


def fetch_headers(file: File, position: int, end: int) -> None:
    """Runs in a thread: read what `scan_headers` will, which then finds what is wrong with it."""
    try:
        for _ in scan_headers(BLOCKING, file, position, end):
            pass
    except CorruptLogError:
        pass


def scan_checked(
    file: File, position: int, end: int, *, read_bytes: int = CHECK_READ_BYTES
) -> Iterator[tuple[int, BatchHeader]]:
    """In a thread: as `scan_headers`, of batches whose checksum is right.

    `read_bytes` are read at a time, so a caller that stops early should choose few.
    """
    chunk, chunk_start = memoryview(b""), position
    next_offset = 0
    while position < end:
        at = position - chunk_start
        if len(chunk) - at < HEADER_BYTES:
            chunk = memoryview(file.read_at(position, min(read_bytes, end - position)))
            chunk_start, at = position, 0
        header = header_at(file, chunk, at, position, end)
        size = LENGTH_PREFIX_BYTES + header.batch_length
        if at and size > len(chunk) - at:
            chunk = memoryview(file.read_at(position, min(read_bytes, end - position)))
            chunk_start, at = position, 0
        if size <= len(chunk) - at:
            crc = crc32c(chunk[at + CHECKED_FROM : at + size])
        else:
            crc = checksum_of_file(file, position + CHECKED_FROM, position + size)
        check_batch(file, position, header, crc, next_offset)
        next_offset = header.base_offset + header.last_offset_delta + 1
        yield position, header
        position += size


def header_at(
    file: File, chunk: bytes | memoryview, at: int, position: int, end: int
) -> BatchHeader:
    """The header at `position`, which is `at` in `chunk`, of a batch that ends before `end`."""
    if len(chunk) - at < HEADER_BYTES:
        raise _cut_off(file, position, end)
    header = _make(_unpack(chunk, at))
    size = LENGTH_PREFIX_BYTES + header.batch_length
    is_batch = header.magic == MAGIC and header.partition_leader_epoch >= -1
    if not is_batch or not HEADER_BYTES <= size <= end - position:
        raise _no_batch(file, position, header, end)
    return header


def _cut_off(file: File, position: int, end: int) -> CorruptLogError:
    return CorruptLogError(file.path, position, f"{end - position} bytes are no batch")


def _no_batch(file: File, position: int, header: BatchHeader, end: int) -> CorruptLogError:
    if header.magic != MAGIC:
        reason = f"magic {header.magic}, not {MAGIC}"
    elif header.partition_leader_epoch < -1:
        reason = f"epoch {header.partition_leader_epoch}"
    else:
        size, left = LENGTH_PREFIX_BYTES + header.batch_length, end - position
        reason = f"batch of {size} bytes where {left} are left"
    return CorruptLogError(file.path, position, reason)


def check_batch(file: File, position: int, header: BatchHeader, crc: int, next_offset: int) -> None:
    if crc != header.crc:
        raise CorruptLogError(file.path, position, f"checksum {crc:08x}, not {header.crc:08x}")
    if header.base_offset < next_offset or header.last_offset_delta < 0:
        raise _wrong_offsets(file, position, header, next_offset)


def _wrong_offsets(
    file: File, position: int, header: BatchHeader, next_offset: int
) -> CorruptLogError:
    return CorruptLogError(
        file.path,
        position,
        f"offsets {header.base_offset} to {header.last_offset} below {next_offset}",
    )


def checksum_of_file(file: File, start: int, end: int) -> int:
    """CRC-32C of a batch larger than one piece, read in pieces."""
    crc = 0
    while start < end:
        piece = file.read_at(start, min(CHECK_READ_BYTES, end - start))
        if not piece:
            raise CorruptLogError(file.path, start, f"the file ends before {end}")
        crc = crc32c(piece, crc)
        start += len(piece)
    return crc


def find_valid_batch(
    file: File, position: int, end: int, offset_min: int, offset_max: int
) -> tuple[int, BatchHeader] | None:
    """The next whole, valid batch from `position` on, wherever it begins.

    Used if the length of a batch is damaged, so that the batches after it can be read.
    """
    while end - position >= HEADER_BYTES:
        chunk = file.read_at(position, min(CHECK_READ_BYTES, end - position))
        at = chunk.find(bytes([MAGIC]), MAGIC_POSITION)
        while at >= 0 and at - MAGIC_POSITION <= len(chunk) - HEADER_BYTES:
            start = at - MAGIC_POSITION
            header = _make(_unpack(chunk, start))
            if _is_plausible(header, end - position - start, offset_min, offset_max):
                first = position + start
                crc = checksum_of_file(
                    file, first + CHECKED_FROM, first + LENGTH_PREFIX_BYTES + header.batch_length
                )
                if crc == header.crc:
                    return first, header
            at = chunk.find(bytes([MAGIC]), at + 1)
        position += max(len(chunk) - HEADER_BYTES + 1, 1)
    return None


def _is_plausible(header: BatchHeader, left: int, offset_min: int, offset_max: int) -> bool:
    return (
        HEADER_BYTES <= LENGTH_PREFIX_BYTES + header.batch_length <= left
        and header.last_offset_delta >= 0
        and offset_min <= header.base_offset
        and header.last_offset < offset_max
    )
