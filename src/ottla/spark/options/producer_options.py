"""Options of a write that begin with `kafka.`: a producer's settings under Kafka's names.

Owns      which of them shape batches and transactions here, which go to our client, which change
          nothing, which need another option.
Promises  whatever is none of these is refused by its name, before anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.client.settings import ClientSettings
from ottla.config.checks import between, one_of_any_case
from ottla.config.kinds import BOOLEAN, INT, STRING, optional
from ottla.config.options import MINUTE_MS, InvalidOption, fields_of, option, options_of
from ottla.protocol.records.compression import Codec
from ottla.spark.options.kafka_settings import client_settings, kafka_properties
from ottla.spark.options.option_table import KAFKA_PREFIX, parse_option

CODECS = {
    "none": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}
REFUSED = {
    "transactional.id": "the sink names its transactions itself, after the option sinkName",
    "partitioner.class": "it is a Java class; keys go to partitions as Kafka's own producer sends "
    "them, or give rows a column partition",
    "key.serializer": "keys are strings or bytes; convert them with functions of DataFrames",
    "value.serializer": "values are strings or bytes; convert them with functions of DataFrames",
    "interceptor.classes": "they are Java classes",
    "metric.reporters": "they are Java classes",
}
# Java's threads, pauses and sockets: jobs have them, and nothing here depends on them.
WITHOUT_EFFECT = frozenset({
    "client.dns.lookup", "connections.max.idle.ms", "linger.ms", "max.block.ms",
    "metadata.max.age.ms", "metadata.max.idle.ms", "metrics.num.samples",
    "metrics.recording.level", "metrics.sample.window.ms",
    "partitioner.adaptive.partitioning.enable", "partitioner.availability.timeout.ms",
    "partitioner.ignore.keys", "reconnect.backoff.max.ms", "reconnect.backoff.ms", "retries",
    "socket.connection.setup.timeout.max.ms",
})  # fmt: skip
BATCH_BYTES_MAX = 1_000_000  # below the 1,048,588 that topics take unless told otherwise


@dataclass(frozen=True)
class ProducerOptions:
    compression: str = option(
        "compression.type", "none", STRING, one_of_any_case(*CODECS), "The codec of batches."
    )
    gzip_level: int | None = option(
        "compression.gzip.level", None, optional(INT), between(-1, 9), "gzip's level."
    )
    lz4_level: int | None = option(
        "compression.lz4.level", None, optional(INT), between(1, 17), "lz4's level."
    )
    zstd_level: int | None = option(
        "compression.zstd.level", None, optional(INT), between(-131072, 22), "zstd's level."
    )
    batch_bytes: int = option(
        "batch.size",
        BATCH_BYTES_MAX,
        INT,
        between(1, 2**31 - 1),
        "Bytes of records in a batch, before compression. Above Kafka's 16 KiB: whole columns "
        "are at hand, and large batches are what makes this fast.",
    )
    transaction_timeout_ms: int = option(
        "transaction.timeout.ms",
        15 * MINUTE_MS,
        INT,
        between(1, 2**31 - 1),
        "How long a batch may stay undecided, and a driver away after it has decided.",
    )
    idempotence: bool = option(
        "enable.idempotence",
        True,
        BOOLEAN,
        lambda _name, value: None if value else "must stay true: no attempt may write twice",
        "Always on.",
    )

    @property
    def codec(self) -> Codec:
        return CODECS[self.compression.lower()]

    @property
    def level(self) -> int | None:
        levels = {
            Codec.GZIP: self.gzip_level, Codec.LZ4: self.lz4_level, Codec.ZSTD: self.zstd_level
        }  # fmt: skip
        return levels.get(self.codec)


_OPTIONS = options_of(ProducerOptions)
_ATTRIBUTES = fields_of(ProducerOptions)


def parse_producer_options(texts: Mapping[str, str]) -> tuple[ProducerOptions, ClientSettings]:
    """InvalidOption names the option as the user wrote it."""
    properties = kafka_properties(texts, REFUSED)
    own = {
        _ATTRIBUTES[name]: parse_option(_OPTIONS[name], properties.pop(name), KAFKA_PREFIX)
        for name in [each for each in properties if each in _OPTIONS]
    }
    return ProducerOptions(**own), _client_settings(properties)


def _client_settings(properties: dict[str, str]) -> ClientSettings:
    settings = client_settings(properties, WITHOUT_EFFECT, "ottla-spark-sink")
    if settings.acks != -1:
        raise InvalidOption("Option kafka.acks must be all: an idempotent producer needs it.")
    return settings
