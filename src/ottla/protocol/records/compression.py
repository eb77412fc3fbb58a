"""The five codecs of a record batch, each with bounded output.

Owns      compressing and decompressing the records after a batch header, for all codecs.
Promises  `decompress` returns at most `limit` bytes, makes no allocation by a number in the data,
          and for any input returns bytes or raises InvalidBatch(CORRUPT_MESSAGE). `compress` writes
          what Java, librdkafka and the other clients can read.
Leaves    the records themselves to `reading.py`.

As in Java, consecutive gzip members, zstd frames or xerial streams are one stream. Stricter than
Java: any other data after the end is rejected instead of ignored.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from itertools import chain
from struct import Struct

import cramjam
import lz4.frame

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.frame_bounds import corrupt, lz4_bytes_max, over_limit, zstd_bytes_max

KIB = 1024
DECOMPRESSED_BYTES_MAX = 32 * KIB * KIB  # default limit of one batch

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"  # version, compatible version
XERIAL_CHUNK_BYTES = 32 * KIB  # of input; Java's block size for batches
SNAPPY_RATIO_MAX = 22  # a copy of 64 bytes takes three bytes, so larger claims are false

GZIP_WINDOW_BITS = 31  # gzip header, largest window
GZIP_INPUT_STEP_BYTES = 16 * KIB
GZIP_OUTPUT_STEP_BYTES = 256 * KIB
LZ4_FAST_LEVEL = 0
LZ4_LEVEL_MAX = 12  # Kafka's scale ends at 17, liblz4's at 12
LZ4_OUTPUT_STEP_BYTES = 4 * KIB * KIB
ZSTD_LEVEL = 3

# Members, chunks or streams in one batch: far above what writers produce; limits the time for a
# batch of empty ones.
PIECES_MAX = 16_384

_CHUNK_LENGTH = Struct(">i")


class Codec(IntEnum):
    """The codec in the lowest three attribute bits of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def codec_of(number: int) -> Codec:
    """The codec with this number; 5 to 7 are undefined."""
    try:
        return Codec(number)
    except ValueError:
        raise InvalidBatch(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"unknown compression codec {number}"
        ) from None


def compress(codec: int, data: Buffer, level: int | None = None) -> bytes:
    """`data` in a form that every client can read; `level` is the codec's own."""
    match codec_of(codec):
        case Codec.NONE:
            return bytes(data)
        case Codec.GZIP:
            compressor = zlib.compressobj(-1 if level is None else level, wbits=GZIP_WINDOW_BITS)
            return compressor.compress(data) + compressor.flush()
        case Codec.SNAPPY:
            return _compress_xerial(memoryview(data))
        case Codec.LZ4:
            return _compress_lz4(data, level)
        case Codec.ZSTD:
            return bytes(cramjam.zstd.compress(data, ZSTD_LEVEL if level is None else level))


def decompress(codec: int, data: Buffer, limit: int) -> Buffer:
    """The decompressed data, if it is at most `limit` bytes.

    NONE returns `data` itself, whatever its size.
    """
    which = codec_of(codec)
    if which is Codec.NONE:
        return data
    with memoryview(data) as view:
        return _DECOMPRESSORS[which](view, limit)


def _compress_xerial(view: memoryview) -> bytes:
    parts = [XERIAL_HEADER]
    for start in range(0, len(view), XERIAL_CHUNK_BYTES):
        chunk = bytes(cramjam.snappy.compress_raw(view[start : start + XERIAL_CHUNK_BYTES]))
        parts += (_CHUNK_LENGTH.pack(len(chunk)), chunk)
    return b"".join(parts)


def _compress_lz4(data: Buffer, level: int | None) -> bytes:
    # Java rejects linked blocks, liblz4's default.
    compressed: bytes = lz4.frame.compress(
        data,
        compression_level=LZ4_FAST_LEVEL if level is None else min(level, LZ4_LEVEL_MAX),
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )
    return compressed


def _decompress_gzip(view: memoryview, limit: int) -> Buffer:
    output = bytearray()
    position = 0
    for _ in range(PIECES_MAX):
        position = _decompress_gzip_member(view, position, output, limit)
        if position == len(view):
            return output
    raise corrupt(f"gzip: more than {PIECES_MAX} members")


def _decompress_gzip_member(view: memoryview, position: int, output: bytearray, limit: int) -> int:
    """Append one member to `output` and return its end.

    Input is passed in small steps, because zlib copies the unused rest.
    """
    member = zlib.decompressobj(wbits=GZIP_WINDOW_BITS)
    pending: Buffer = b""
    while not member.eof:
        if not pending:
            pending = view[position : position + GZIP_INPUT_STEP_BYTES]
            position += len(pending)
        # One byte more than allowed distinguishes "exactly the limit" from "more than the limit".
        step = min(GZIP_OUTPUT_STEP_BYTES, limit - len(output) + 1)
        try:
            piece = member.decompress(pending, step)
        except zlib.error as error:
            raise corrupt(f"gzip: {error}") from None
        output += piece
        if len(output) > limit:
            raise over_limit("gzip", limit)
        pending = member.unconsumed_tail
        if not piece and not pending and position == len(view) and not member.eof:
            raise corrupt("gzip: the data ends inside a member")
    return position - len(member.unused_data)


def _decompress_snappy(view: memoryview, limit: int) -> Buffer:
    if view[: len(XERIAL_MAGIC)] != XERIAL_MAGIC:
        return _decompress_snappy_block(view, 0, limit)
    output = bytearray()
    position = 0
    for _ in range(PIECES_MAX):
        if position >= len(view):
            break
        if view[position : position + len(XERIAL_MAGIC)] == XERIAL_MAGIC:
            position += len(XERIAL_HEADER)  # the first stream, or a further one
            continue
        chunk = _xerial_chunk(view, position)
        output += _decompress_snappy_block(chunk, len(output), limit)
        position += _CHUNK_LENGTH.size + len(chunk)
    if position < len(view):
        raise corrupt(f"snappy: more than {PIECES_MAX} chunks")
    if position > len(view):
        raise corrupt("snappy: the data ends inside a xerial header")
    return output


def _xerial_chunk(view: memoryview, position: int) -> memoryview:
    start = position + _CHUNK_LENGTH.size
    if start > len(view):
        raise corrupt(f"snappy: the data ends inside the length of the chunk at byte {position}")
    (size,) = _CHUNK_LENGTH.unpack_from(view, position)
    if not 0 < size <= len(view) - start:
        raise corrupt(f"snappy: the chunk at byte {position} claims {size} bytes")
    return view[start : start + size]


def _decompress_snappy_block(block: memoryview, bytes_before: int, limit: int) -> Buffer:
    try:
        claimed = cramjam.snappy.decompress_raw_len(block)
        if bytes_before + claimed > limit:
            raise over_limit("snappy", limit)
        if claimed > len(block) * SNAPPY_RATIO_MAX:
            raise corrupt(f"snappy: {len(block)} bytes cannot hold the {claimed} they claim")
        return memoryview(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise corrupt(f"snappy: {error}") from None


def _decompress_lz4(view: memoryview, limit: int) -> Buffer:
    bound = lz4_bytes_max(view, limit)
    pieces = _lz4_pieces(view, min(bound + 1, LZ4_OUTPUT_STEP_BYTES))
    first = next(pieces)
    second = next(pieces, None)
    if second is None and len(first) <= limit:
        return first  # the common case: one step, without a copy
    output, size = bytearray(bound), 0
    for piece in chain((first, second or b""), pieces):
        if size + len(piece) > limit:
            raise over_limit("lz4", limit)
        output[size : size + len(piece)] = piece
        size += len(piece)
    return memoryview(output)[:size]


def _lz4_pieces(view: memoryview, step: int) -> Iterator[bytes]:
    """The content of the only frame in `view`, at most `step` bytes at a time."""
    context = lz4.frame.create_decompression_context()
    position, is_finished = 0, False
    while not is_finished:
        try:
            # With a maximum, the library allocates according to it, not to the frame's claim.
            piece, consumed, is_finished = lz4.frame.decompress_chunk(
                context, view[position:], step
            )
        except RuntimeError as error:
            raise corrupt(f"lz4: {error}") from None
        if not piece and not is_finished:
            raise corrupt("lz4: the data ends inside the frame")
        position += consumed
        yield piece
    if position < len(view):
        raise corrupt(f"lz4: {len(view) - position} bytes follow the frame")


def _decompress_zstd(view: memoryview, limit: int) -> Buffer:
    bound = zstd_bytes_max(view, limit)
    output = bytearray(bound)
    try:
        size = cramjam.zstd.decompress_into(view, output)
    except cramjam.DecompressionError as error:
        raise corrupt(f"zstd: {error} (at most {limit} bytes are allowed)") from None
    return memoryview(output)[:size]


_DECOMPRESSORS: dict[Codec, Callable[[memoryview, int], Buffer]] = {
    Codec.GZIP: _decompress_gzip,
    Codec.SNAPPY: _decompress_snappy,
    Codec.LZ4: _decompress_lz4,
    Codec.ZSTD: _decompress_zstd,
}
