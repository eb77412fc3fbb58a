"""The batches of a closed segment, read in large pieces and checked.

Promises  each batch has a complete, plausible header and a valid checksum, and offsets increase;
          anything else is a CorruptLogError with file and position. Memory is bounded by the larger
          of the read size and one batch.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.base.files.filesystem import File, FileSystem
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    BatchHeader,
    check_structure,
    checksum,
    read_header,
)
from ottla.storage.errors import CorruptLogError

Batch = tuple[int, BatchHeader, memoryview]  # position in the file, header, the whole batch


def walk_batches(
    files: FileSystem, path: str, size: int, from_offset: int, read_bytes: int
) -> Iterator[Batch]:
    """All batches in the first `size` bytes that contain `from_offset` or a later offset."""
    file = files.open(path)
    try:
        next_offset = -1
        for position, header, batch in _walk(file, size, read_bytes):
            if header.base_offset < next_offset or header.last_offset_delta < 0:
                raise CorruptLogError(
                    path, position, f"offset {header.base_offset} after {next_offset - 1}"
                )
            next_offset = header.next_offset
            if next_offset <= from_offset:
                continue
            if checksum(batch, 0, len(batch)) != header.crc:
                raise CorruptLogError(path, position, "wrong checksum")
            yield position, header, batch
    finally:
        file.close()


def _walk(file: File, size: int, read_bytes: int) -> Iterator[Batch]:
    position = 0
    wanted = read_bytes
    while position < size:
        data = memoryview(file.read_at(position, min(wanted, size - position)))
        at = 0
        wanted = read_bytes
        while at < len(data):
            header, length = _header_at(file, position + at, data[at:], size)
            if length > len(data) - at:
                wanted = max(read_bytes, length)
                break
            yield position + at, header, data[at : at + length]
            at += length
        position += at


def _header_at(file: File, position: int, data: memoryview, size: int) -> tuple[BatchHeader, int]:
    """The header and the size of the whole batch, of which `data` may have only a part."""
    if len(data) < HEADER_BYTES:
        data = memoryview(file.read_at(position, min(HEADER_BYTES, size - position)))
    try:
        header = read_header(data)
        length = check_structure(header, position)
    except InvalidBatch as error:
        raise CorruptLogError(file.path, position, error.message) from error
    if length > size - position:
        raise CorruptLogError(
            file.path, position, f"a batch of {length} bytes, {size - position} are left"
        )
    return header, length
