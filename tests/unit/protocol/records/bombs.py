"""Small batches that claim to be huge, or are after decompression.

Run as a program, it prints what each costs.

    python tests/unit/protocol/records/bombs.py

One line of JSON a bomb: its name, the code it was refused with, and by how many KiB the memory of
this process grew at most while it was.
"""

from __future__ import annotations

import gzip
import json
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import cramjam
import lz4.frame

from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import HEADER_BYTES, BatchHeader, Buffer, read_header
from ottla.protocol.records.building import build_batch, seal
from ottla.protocol.records.checking import ProduceRules, check_produced
from ottla.protocol.records.compression import XERIAL_HEADER, Codec
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_index import iterate_indexes

MIB = 1 << 20
GIB = 1 << 30
ZSTD_MAGIC = struct.pack("<I", 0xFD2FB528)
ZSTD_BLOCK_BYTES = 128 * 1024


def gzip_bomb(size: int) -> bytes:
    """Deflate blocks of zeros that end on a byte, one after the other."""
    compressor = zlib.compressobj(9, wbits=31)
    head = compressor.compress(b"") + compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(bytes(MIB)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return head + block * (size // MIB)


def snappy_block_bomb(size: int) -> bytes:
    return bytes(cramjam.snappy.compress_raw(bytes(size)))


def xerial_bomb(size: int) -> bytes:
    block = snappy_block_bomb(MIB)
    return XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * (size // MIB)


def lz4_bomb(size: int, claimed: int = 0) -> bytes:
    context = lz4.frame.create_compression_context()
    block_size = lz4.frame.BLOCKSIZE_MAX4MB
    head = lz4.frame.compress_begin(
        context, source_size=claimed, block_size=block_size, block_linked=False
    )
    body = lz4.frame.compress(
        bytes(4 * MIB), block_size=block_size, block_linked=False, store_size=False
    )[7:-4]
    return bytes(head) + bytes(body) * (size // (4 * MIB)) + bytes(4)


def zstd_block(kind: int, size: int, content: bytes, is_last: bool = False) -> bytes:
    return (size << 3 | kind << 1 | is_last).to_bytes(3, "little") + content


def zstd_rle_bomb(size: int) -> bytes:
    block = zstd_block(1, ZSTD_BLOCK_BYTES, b"a")
    return (
        ZSTD_MAGIC + b"\x00\x58" + block * (size // ZSTD_BLOCK_BYTES) + zstd_block(0, 0, b"", True)
    )


def zstd_claim(size: int) -> bytes:
    return ZSTD_MAGIC + b"\xe0" + struct.pack("<Q", size) + zstd_block(0, 1, b"a", True)


def zstd_window_claim() -> bytes:
    return ZSTD_MAGIC + b"\x00\xf8" + zstd_block(0, 1, b"a", True)


STREAMS: dict[str, tuple[Codec, Callable[[], bytes]]] = {
    "gzip, 1 GiB": (Codec.GZIP, lambda: gzip_bomb(GIB)),
    "gzip, 10 GiB": (Codec.GZIP, lambda: gzip_bomb(10 * GIB)),
    "gzip, members": (Codec.GZIP, lambda: gzip.compress(bytes(MIB)) * 1000),
    "gzip, empty members": (Codec.GZIP, lambda: gzip.compress(b"") * 50_000),
    "snappy, claims 4 GiB": (Codec.SNAPPY, lambda: b"\xff\xff\xff\xff\x0f\x00"),
    "snappy, claims what it cannot hold": (Codec.SNAPPY, lambda: b"\x80\x80\x80\x08" + bytes(99)),
    "snappy, 256 MiB": (Codec.SNAPPY, lambda: snappy_block_bomb(256 * MIB)),
    "xerial, 1 GiB": (Codec.SNAPPY, lambda: xerial_bomb(GIB)),
    "xerial, chunk of -1": (Codec.SNAPPY, lambda: XERIAL_HEADER + b"\xff" * 4 + bytes(99)),
    "xerial, chunk of 2 GiB": (Codec.SNAPPY, lambda: XERIAL_HEADER + b"\x7f\xff\xff\xff" * 9),
    "xerial, empty chunks": (Codec.SNAPPY, lambda: XERIAL_HEADER + b"\0\0\0\1\0" * 200_000),
    "lz4, 1 GiB": (Codec.LZ4, lambda: lz4_bomb(GIB)),
    "lz4, 10 GiB": (Codec.LZ4, lambda: lz4_bomb(10 * GIB)),
    "lz4, claims 1 EiB": (Codec.LZ4, lambda: lz4_bomb(0, claimed=1 << 60)),
    "lz4, 1 GiB, claims 1 EiB": (Codec.LZ4, lambda: lz4_bomb(GIB, claimed=1 << 60)),
    "zstd, 1 GiB": (Codec.ZSTD, lambda: zstd_rle_bomb(GIB)),
    "zstd, 10 GiB": (Codec.ZSTD, lambda: zstd_rle_bomb(10 * GIB)),
    "zstd, frames": (Codec.ZSTD, lambda: bytes(cramjam.zstd.compress(bytes(16 * MIB), 3)) * 640),
    "zstd, claims 2**63": (Codec.ZSTD, lambda: zstd_claim(2**63)),
    "zstd, claims 2**64 - 1": (Codec.ZSTD, lambda: zstd_claim(2**64 - 1)),
    "zstd, window of 3.75 TiB": (Codec.ZSTD, zstd_window_claim),
    "zstd, empty blocks": (Codec.ZSTD, lambda: ZSTD_MAGIC + b"\x00\x58" + bytes(3) * 300_000),
    "zstd, skippable frames": (Codec.ZSTD, lambda: struct.pack("<II", 0x184D2A50, 0) * 130_000),
}  # fmt: skip


def batch_of(codec: Codec, stream: Buffer, **changes: int) -> bytearray:
    """A batch with any bytes for records, and a checksum that is right."""
    header = read_header(build_batch([Record(0, 0, b"k", b"v")]))
    batch = bytearray(HEADER_BYTES) + stream
    seal(batch, header._replace(attributes=codec, **changes))
    return batch


def batches() -> Iterator[tuple[str, bytearray]]:
    for name, (codec, make) in STREAMS.items():
        yield name, batch_of(codec, make())
    one = build_batch([Record(0, 0, b"k", b"v")])[HEADER_BYTES:]
    everywhere = 2**31 - 1
    yield (
        "2**31 - 1 records",
        batch_of(Codec.NONE, one, records_count=everywhere, last_offset_delta=everywhere - 1),
    )
    yield "a record of 1 GiB", batch_of(Codec.NONE, b"\x80\x80\x80\x80\x08" + bytes(60))
    yield "a key of 1 GiB", batch_of(Codec.NONE, b"\x14\0\0\0\x80\x80\x80\x80\x08" + bytes(60))
    yield "2**30 headers", batch_of(Codec.NONE, b"\x14\0\0\0\1\1\x80\x80\x80\x80\x08" + bytes(60))
    tiny = b"\x0c\0\0\0\1\1\0" * (MIB // 7)  # whole records, the smallest there are
    yield "more records than it says", batch_of(Codec.NONE, tiny)


RULES = ProduceRules(message_bytes_max=128 * MIB, is_compacted=True)
OPENERS: dict[str, Callable[[bytearray], object]] = {
    "iterate": lambda batch: sum(1 for _ in iterate_records(batch)),
    "index": lambda batch: sum(map(len, iterate_indexes(batch))),
    "produce": lambda batch: check_produced(batch, RULES, produce_version=9, now_ms=0),
}


def main() -> None:
    warm_up = bytes(build_batch([Record(0, 0, b"k", bytes(40 * MIB))]))
    assert isinstance(read_header(warm_up), BatchHeader)
    del warm_up
    for name, batch in batches():
        for opener, function in OPENERS.items():
            reset_peak()
            before, start, code = peak_kib(), time.thread_time(), 0
            try:
                function(batch)
            except InvalidBatch as error:
                code = error.code
            row = {"bomb": name, "by": opener, "code": int(code)}
            cpu_ms = round(1000 * (time.thread_time() - start), 1)
            print(json.dumps({**row, "grown_kib": peak_kib() - before, "cpu_ms": cpu_ms}))


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    main()
