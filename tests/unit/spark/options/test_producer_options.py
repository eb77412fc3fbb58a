"""`kafka.*` options of a write."""

from __future__ import annotations

import pytest

from ottla.config.options import InvalidOption
from ottla.protocol.records.compression import Codec
from ottla.spark.options.producer_options import parse_producer_options

SERVERS = {"kafka.bootstrap.servers": "localhost:9092"}


def test_without_more_it_waits_a_quarter_of_an_hour_and_compresses_nothing() -> None:
    options, settings = parse_producer_options({**SERVERS, "topic": "t"})
    assert (options.codec, options.level) == (Codec.NONE, None)
    assert options.transaction_timeout_ms == 900_000
    assert settings.bootstrap_servers == "localhost:9092"


def test_codec_level_and_sizes_are_taken() -> None:
    options, settings = parse_producer_options({
        **SERVERS, "kafka.compression.type": "ZSTD", "kafka.compression.zstd.level": "7",
        "kafka.batch.size": "5000", "kafka.linger.ms": "10", "kafka.request.timeout.ms": "1234",
    })  # fmt: skip
    assert (options.codec, options.level, options.batch_bytes) == (Codec.ZSTD, 7, 5000)
    assert settings.request_timeout_ms == 1234


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kafka.compression.type", "brotli", "kafka.compression.type"),
        ("kafka.transactional.id", "x", "kafka.transactional.id cannot be used.*sinkName"),
        ("kafka.group.id", "g", "kafka.group.id cannot be used: it is for reading"),
        ("kafka.acks", "1", "kafka.acks must be all"),
        ("kafka.enable.idempotence", "false", "must stay true"),
        ("kafka.ssl.truststore.location", "x", "kafka.ssl.truststore.location"),
        ("kafka.no.such.thing", "x", "kafka.no.such.thing"),
        ("kafka.batchsize", "5", r"kafka.batchsize: .* Did you mean kafka.batch.size\?"),
        ("kafka.batch.size", "0", "kafka.batch.size: "),
        ("kafka.linger.ms", "soon", "kafka.linger.ms: .*Not a number of type LONG"),
        ("kafka.retries", "many", "kafka.retries: .*Not a number of type INT"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(name: str, value: str, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        parse_producer_options({**SERVERS, name: value})


def test_a_write_without_servers_is_refused() -> None:
    with pytest.raises(InvalidOption, match="servers is missing"):
        parse_producer_options({"topic": "t"})
