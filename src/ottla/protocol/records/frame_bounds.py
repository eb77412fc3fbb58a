"""An upper bound for the decompressed size of a zstd or lz4 frame, from its block headers.

Owns      the block structure of the two frame formats, as far as the bound needs it.
Promises  the bound is never below the actual size; a size claimed by a frame can only lower it, and
          frames that surely exceed the limit are rejected before decompression.
Leaves    decoding, and all checks of content, to the codecs in `compression.py`.
"""

from __future__ import annotations

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch

KIB = 1024

ZSTD_MAGIC = 0xFD2FB528
ZSTD_BLOCK_BYTES_MAX = 128 * KIB
LZ4_MAGIC = 0x184D2204
LZ4_BLOCK_BYTES_MAX = {4: 64 * KIB, 5: 256 * KIB, 6: 1024 * KIB, 7: 4096 * KIB}

# For a frame with very many tiny blocks only the caller's limit applies: reading all block headers
# would cost more time than the tighter bound saves memory.
BLOCKS_WALKED_MAX = 4096

_SKIPPABLE_MAGIC = 0x184D2A50
_RAW, _RLE, _COMPRESSED = 0, 1, 2
_DICTIONARY_ID_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)


def corrupt(what: str) -> InvalidBatch:
    return InvalidBatch(ErrorCode.CORRUPT_MESSAGE, what)


def over_limit(codec: str, limit: int) -> InvalidBatch:
    return corrupt(f"{codec}: more than {limit} bytes when decompressed")


def zstd_bytes_max(data: memoryview, limit: int) -> int:
    """An upper bound for the decompressed size, at most `limit`; rejects frames that must exceed
    it."""
    position, sure, possible = 0, 0, 0
    blocks_left = BLOCKS_WALKED_MAX
    while position < len(data):
        if (blocks_left := blocks_left - 1) < 0:
            return limit
        magic = _little_endian(data, position, 4)
        if magic & ~0xF == _SKIPPABLE_MAGIC:
            position += 8 + _little_endian(data, position + 4, 4)
            continue
        if magic != ZSTD_MAGIC:
            raise corrupt(f"zstd: no frame at byte {position}")
        position, block_bytes_max, claimed, has_checksum = _zstd_frame_header(data, position + 4)
        frame_possible, is_last = 0, False
        while not is_last:
            if (blocks_left := blocks_left - 1) < 0:
                return limit
            block = _little_endian(data, position, 3)
            is_last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
            position += 3 + (1 if kind == _RLE else size)
            sure += size if kind in (_RAW, _RLE) else 0
            frame_possible += block_bytes_max if kind == _COMPRESSED else size
            if sure > limit:
                raise over_limit("zstd", limit)
        position += 4 if has_checksum else 0
        possible += frame_possible if claimed is None else min(claimed, frame_possible)
    return min(possible, limit)


def _zstd_frame_header(data: memoryview, position: int) -> tuple[int, int, int | None, bool]:
    """(start of the blocks, largest block, claimed content size, whether there is a checksum)."""
    descriptor = _little_endian(data, position, 1)
    position += 1
    is_single_segment = bool(descriptor & 0x20)
    block_bytes_max = ZSTD_BLOCK_BYTES_MAX
    if not is_single_segment:
        window = _little_endian(data, position, 1)
        window_bytes = (1 << 10 + (window >> 3)) * (8 + (window & 7)) // 8
        block_bytes_max = min(block_bytes_max, window_bytes)
        position += 1
    position += _DICTIONARY_ID_BYTES[descriptor & 3]
    width = _CONTENT_SIZE_BYTES[descriptor >> 6]
    if width == 0 and is_single_segment:
        width = 1
    claimed = None
    if width:
        claimed = _little_endian(data, position, width) + (256 if width == 2 else 0)
    return position + width, block_bytes_max, claimed, bool(descriptor & 0x04)


def lz4_bytes_max(data: memoryview, limit: int) -> int:
    """The same for one lz4 frame, which must end with the data: Java reads no further."""
    if _little_endian(data, 0, 4) != LZ4_MAGIC:
        raise corrupt("lz4: no frame at byte 0")
    flags, descriptor = _little_endian(data, 4, 1), _little_endian(data, 5, 1)
    block_bytes_max = LZ4_BLOCK_BYTES_MAX.get(descriptor >> 4)
    if block_bytes_max is None:
        raise corrupt("lz4: unknown block size")
    position = 7 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    sure, possible = 0, 0
    for _ in range(BLOCKS_WALKED_MAX):
        block = _little_endian(data, position, 4)
        position += 4
        if block == 0:
            return min(possible, limit)
        size, is_raw = block & 0x7FFFFFFF, bool(block & 0x80000000)
        position += size + (4 if flags & 0x10 else 0)
        sure += size if is_raw else 0
        possible += size if is_raw else block_bytes_max
        if sure > limit:
            raise over_limit("lz4", limit)
    return limit


def _little_endian(data: memoryview, position: int, width: int) -> int:
    if position + width > len(data):
        raise corrupt(f"compressed frame ends at byte {len(data)}, inside a header")
    return int.from_bytes(data[position : position + width], "little")


def has_linked_lz4_blocks(data: memoryview) -> bool:
    """Whether blocks refer to each other, which liblz4 supports and Java does not."""
    return len(data) > 4 and not data[4] & 0x20
