"""The codecs: what other programs write is read, and nothing more is accepted than is there."""

from __future__ import annotations

import gzip
import struct
import zlib

import cramjam
import lz4.frame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.compression import (
    PIECES_MAX,
    XERIAL_HEADER,
    Codec,
    codec_of,
    compress,
    decompress,
)

TEXT = b'{"user": 1, "page": "/index.html", "took_ms": 12}\n' * 3000  # several blocks of any codec
LIMIT = 1 << 20
CODECS = pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
COMPRESSING = pytest.mark.parametrize(
    "codec", [codec for codec in Codec if codec], ids=lambda codec: codec.name.lower()
)


def xerial(*chunks: bytes, header: bytes = XERIAL_HEADER) -> bytes:
    blocks = [bytes(cramjam.snappy.compress_raw(chunk)) for chunk in chunks]
    return header + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


def zstd_stream(data: bytes) -> bytes:
    """As streaming writers make it: no content size in the frame."""
    compressor = cramjam.zstd.Compressor(level=3)
    stream = b""
    for start in range(0, len(data), 10_000):
        compressor.compress(data[start : start + 10_000])
        stream += bytes(compressor.flush())
    return stream + bytes(compressor.finish())


def lz4_frame(data: bytes, **options: object) -> bytes:
    return bytes(lz4.frame.compress(data, **options))


def deflate_in_pieces(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, wbits=31)
    parts = [compressor.compress(data[:1000]), compressor.flush(zlib.Z_FULL_FLUSH)]
    return b"".join([*parts, compressor.compress(data[1000:]), compressor.flush()])


def gzip_with_name(data: bytes) -> bytes:
    plain = gzip.compress(data)
    return plain[:3] + b"\x08" + plain[4:10] + b"name\0" + plain[10:]


def size_or_code(codec: Codec, data: bytes | bytearray, limit: int) -> int:
    try:
        return len(decompress(codec, data, limit))
    except InvalidBatch as error:
        return error.code


GZIP = {
    "gzip of the module": gzip.compress(TEXT),
    "gzip with a file name": gzip_with_name(TEXT),
    "gzip with flushes": deflate_in_pieces(TEXT),
    "gzip in members": gzip.compress(TEXT[:7]) + gzip.compress(b"") + gzip.compress(TEXT[7:]),
}
SNAPPY = {
    "snappy raw": bytes(cramjam.snappy.compress_raw(TEXT)),
    "snappy xerial": xerial(TEXT[:5000], b"", TEXT[5000:]),
    "snappy xerial, version 2": xerial(TEXT, header=XERIAL_HEADER[:8] + struct.pack(">ii", 2, 1)),
    "snappy xerial, two streams": xerial(TEXT[:5000]) + xerial(TEXT[5000:]),
}
LZ4 = {
    "lz4 with content size": lz4_frame(TEXT, store_size=True, block_linked=False),
    "lz4 without": lz4_frame(TEXT, store_size=False, block_linked=False),
    "lz4 with checksums": lz4_frame(TEXT, content_checksum=True, block_checksum=True),
    "lz4 with linked blocks": lz4_frame(TEXT, block_linked=True),
    "lz4 with large blocks": lz4_frame(TEXT, block_size=lz4.frame.BLOCKSIZE_MAX4MB),
    "lz4 high": lz4_frame(TEXT, compression_level=12),
}
ZSTD = {
    "zstd with content size": bytes(cramjam.zstd.compress(TEXT, 3)),
    "zstd streamed": zstd_stream(TEXT),
    "zstd high": bytes(cramjam.zstd.compress(TEXT, 19)),
    "zstd in frames": bytes(cramjam.zstd.compress(TEXT[:9], 3)) + zstd_stream(TEXT[9:]),
    "zstd before a skippable frame": zstd_stream(TEXT) + struct.pack("<II", 0x184D2A53, 3) + b"abc",
}
READABLE = {
    name: (codec, data)
    for codec, forms in zip(Codec, ({}, GZIP, SNAPPY, LZ4, ZSTD), strict=True)
    for name, data in forms.items()
}


@CODECS
@pytest.mark.parametrize("data", [b"", b"x", TEXT], ids=["empty", "one byte", "text"])
def test_what_is_compressed_comes_back(codec: Codec, data: bytes) -> None:
    assert decompress(codec, compress(codec, data), len(data)) == data


@COMPRESSING
@pytest.mark.parametrize("level", [1, 9, 17])
def test_every_level_kafka_allows_is_taken(codec: Codec, level: int) -> None:
    level = min(level, 9) if codec is Codec.GZIP else level
    assert decompress(codec, compress(codec, TEXT, level), LIMIT) == TEXT


@CODECS
@given(data=st.binary(max_size=2000))
@settings(max_examples=50, deadline=None)
def test_any_bytes_survive(codec: Codec, data: bytes) -> None:
    assert decompress(codec, compress(codec, data), 2000) == data


@pytest.mark.parametrize(("codec", "data"), READABLE.values(), ids=READABLE.keys())
@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_other_writers_forms_are_read(codec: Codec, data: bytes, buffer: type) -> None:
    assert decompress(codec, buffer(data), len(TEXT)) == TEXT


@pytest.mark.parametrize(("codec", "data"), READABLE.values(), ids=READABLE.keys())
def test_one_byte_over_the_limit_is_refused(codec: Codec, data: bytes) -> None:
    with pytest.raises(InvalidBatch) as caught:
        decompress(codec, data, len(TEXT) - 1)
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


def test_without_codec_the_data_itself_is_given_back_whatever_the_limit() -> None:
    assert decompress(Codec.NONE, TEXT, 1) is TEXT


@pytest.mark.parametrize(("codec", "data"), READABLE.values(), ids=READABLE.keys())
def test_a_cut_is_refused_wherever_it_is(codec: Codec, data: bytes) -> None:
    ends = [*range(1, 40), *range(40, len(data) - 20, 97), *range(len(data) - 20, len(data))]
    found = {size_or_code(codec, data[:end], LIMIT) for end in ends}
    assert ErrorCode.CORRUPT_MESSAGE in found
    # A cut between two members, chunks or frames leaves a whole stream, only a shorter one.
    assert len(found) <= 5
    assert max(found) <= len(TEXT)


@COMPRESSING
@pytest.mark.parametrize("garbage", [b"\0", b"garbage", bytes(40)])
def test_bytes_after_the_end_are_refused(codec: Codec, garbage: bytes) -> None:
    with pytest.raises(InvalidBatch):
        decompress(codec, compress(codec, TEXT) + garbage, LIMIT)


def test_a_second_lz4_frame_is_refused_because_java_would_not_read_it() -> None:
    with pytest.raises(InvalidBatch, match="bytes follow the frame"):
        decompress(Codec.LZ4, lz4_frame(TEXT) * 2, LIMIT)


@COMPRESSING
def test_nothing_is_no_stream(codec: Codec) -> None:
    with pytest.raises(InvalidBatch):
        decompress(codec, b"", LIMIT)


def test_lz4_blocks_stand_alone_because_java_demands_it() -> None:
    frame = compress(Codec.LZ4, TEXT)
    assert len(TEXT) > 64 * 1024
    assert lz4.frame.get_frame_info(frame)["block_linked"] is False


def test_snappy_is_framed_as_java_does() -> None:
    assert compress(Codec.SNAPPY, TEXT).startswith(XERIAL_HEADER)


@pytest.mark.parametrize("number", [5, 6, 7])
def test_an_unknown_codec_is_unsupported(number: int) -> None:
    with pytest.raises(InvalidBatch) as caught:
        codec_of(number)
    assert caught.value.code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize("piece", [gzip.compress(b""), xerial(b"")[16:]], ids=["gzip", "snappy"])
def test_a_stream_of_empty_pieces_ends_somewhere(piece: bytes) -> None:
    codec, head = (Codec.GZIP, b"") if piece[:2] == b"\x1f\x8b" else (Codec.SNAPPY, XERIAL_HEADER)
    with pytest.raises(InvalidBatch, match="more than"):
        decompress(codec, head + piece * (PIECES_MAX + 1), LIMIT)


@COMPRESSING
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_spoiled_streams_end_in_bytes_or_in_a_typed_error(
    codec: Codec, data: st.DataObject
) -> None:
    stream = bytearray(compress(codec, TEXT[:3000]))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    assert size_or_code(codec, stream, 10_000) <= 10_000
