"""The codec of a topic: what its settings mean, and what the event loop can bear of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.storage.log_making import COORDINATOR, SMALL, Place, batch_of, values_of

from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.batch import read_header
from ottla.protocol.records.compression import Codec, compress
from ottla.storage.log.topic_codec import (
    QUICK_BYTES_AT_ONCE,
    SLOW_BYTES_AT_ONCE,
    bytes_at_once,
    codec_and_level,
    fast_level,
)


def test_the_default_level_of_lz4_is_the_quick_compressor_as_in_kafka() -> None:
    config = replace(SMALL, compression_type="lz4")
    assert codec_and_level(config) == (Codec.LZ4, None)
    assert codec_and_level(replace(config, compression_lz4_level=8)) == (Codec.LZ4, 8)


def test_the_producers_codec_is_kept_unless_the_topic_has_one() -> None:
    assert codec_and_level(SMALL) == (None, None)
    assert codec_and_level(replace(SMALL, compression_type="uncompressed")) == (Codec.NONE, None)
    assert codec_and_level(replace(SMALL, compression_type="gzip")) == (Codec.GZIP, -1)


@pytest.mark.parametrize(
    ("codec", "level", "expected"),
    [
        (None, None, QUICK_BYTES_AT_ONCE),
        (Codec.SNAPPY, None, QUICK_BYTES_AT_ONCE),
        (Codec.LZ4, None, QUICK_BYTES_AT_ONCE),
        (Codec.LZ4, 17, SLOW_BYTES_AT_ONCE),
        (Codec.ZSTD, 3, QUICK_BYTES_AT_ONCE),
        (Codec.ZSTD, -131072, QUICK_BYTES_AT_ONCE),
        (Codec.ZSTD, 22, SLOW_BYTES_AT_ONCE),
        (Codec.GZIP, -1, SLOW_BYTES_AT_ONCE),
    ],
)
def test_codecs_and_levels_that_take_long_get_little_at_once(
    codec: Codec | None, level: int | None, expected: int
) -> None:
    assert bytes_at_once(codec, level) == expected


def test_who_cannot_wait_hurries_unless_the_level_is_quick_already() -> None:
    assert fast_level(Codec.ZSTD, 22) == 3
    assert fast_level(Codec.ZSTD, -5) == -5
    assert fast_level(Codec.GZIP, 9) == 1
    assert fast_level(Codec.LZ4, 17) is None


@pytest.mark.parametrize("count", [1, 2000])
def test_a_large_batch_of_a_coordinator_is_compressed_in_a_hurry(count: int) -> None:
    config = replace(
        SMALL, compression_type="zstd", compression_zstd_level=19, segment_bytes=10_000_000
    )
    log = Place(config=config).open()
    values = [b"group %06d" % number for number in range(count)]
    data = batch_of(*values)
    log.append_as_leader(data, 3, COORDINATOR)
    stored = log.segments.active.open(BLOCKING).read_at(0, log.segments.active.size)
    level = 19 if count == 1 else 3
    assert read_header(stored).codec == Codec.ZSTD
    assert stored[61:] == compress(Codec.ZSTD, data[61:], level)
    assert values_of(log) == values
