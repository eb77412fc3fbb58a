"""The codec in which a topic stores its batches, and the cost of compressing a batch with it.

Owns      what `compression.type` and the levels mean, and how much may run on the event loop.
Promises  to compress as many bytes as `bytes_at_once` returns takes less than 0.2 ms, whatever
          they are.
Leaves    compressing to `protocol/records/compression.py`.

The longest times measured for 1, 4 and 16 KiB, in milliseconds (zeros, text, noise, two letters):
snappy, lz4, zstd up to level 3: 0.01, 0.03, 0.07 · gzip: 0.03, 0.3, 1.2 (level 9: 0.03, 0.8, 24)
lz4 level 17: 0.04, 1.0, 30 · zstd level 19 and above: 0.16, 1.5, 18
"""

from __future__ import annotations

from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.compression import Codec

QUICK_BYTES_AT_ONCE = 16 * 1024
SLOW_BYTES_AT_ONCE = 1024
LZ4_LEVEL_DEFAULT = 9  # in Kafka this is the fast compressor, not the ninth level
LZ4_QUICK_LEVEL_MAX = 2
ZSTD_QUICK_LEVEL_MAX = 3
GZIP_QUICKEST_LEVEL = 1

_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


def codec_and_level(config: TopicConfig) -> tuple[Codec | None, int | None]:
    """No codec: that of the producer is kept. No level: the default one."""
    codec = _CODECS.get(config.compression_type)
    if codec is Codec.GZIP:
        return codec, config.compression_gzip_level
    if codec is Codec.LZ4 and config.compression_lz4_level != LZ4_LEVEL_DEFAULT:
        return codec, config.compression_lz4_level
    if codec is Codec.ZSTD:
        return codec, config.compression_zstd_level
    return codec, None


def bytes_at_once(codec: Codec | None, level: int | None) -> int:
    """How many bytes may be decompressed and compressed on the event loop."""
    return QUICK_BYTES_AT_ONCE if _is_quick(codec, level) else SLOW_BYTES_AT_ONCE


def fast_level(codec: Codec, level: int | None) -> int | None:
    """The level for a large batch that must be compressed on the event loop."""
    if _is_quick(codec, level):
        return level
    if codec is Codec.GZIP:
        return GZIP_QUICKEST_LEVEL
    return ZSTD_QUICK_LEVEL_MAX if codec is Codec.ZSTD else None


def _is_quick(codec: Codec | None, level: int | None) -> bool:
    if codec is Codec.GZIP:
        return False
    if codec is Codec.LZ4:
        return level is None or level <= LZ4_QUICK_LEVEL_MAX
    return codec is not Codec.ZSTD or level is None or level <= ZSTD_QUICK_LEVEL_MAX
