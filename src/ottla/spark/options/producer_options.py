"""Options for writing that begin with `kafka.`: a producer's settings under Kafka's names.

Owns      the settings of batches and transactions, which settings are refused because another
          option replaces them, and which are accepted without effect.
Promises  a setting that is none of these, and that the client does not have, is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.client.settings import ClientSettings
from ottla.config.checks import between, one_of_any_case
from ottla.config.kinds import BOOLEAN, INT, LONG, STRING, optional
from ottla.config.options import MINUTE_MS, InvalidOption, fields_of, option, options_of
from ottla.protocol.records.compression import Codec
from ottla.spark.options.kafka_settings import (
    COMMON_WITHOUT_EFFECT,
    WithoutEffect,
    client_settings,
    kafka_properties,
)
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
    "auto.offset.reset": "it is for reading",
    "enable.auto.commit": "it is for reading",
    "group.id": "it is for reading",
    "key.deserializer": "it is for reading",
    "value.deserializer": "it is for reading",
    "max.poll.records": "it is for reading",
    "interceptor.classes": "they are Java classes",
    "metric.reporters": "they are Java classes",
}
# Settings of how Java's producer waits and chooses partitions.
WITHOUT_EFFECT: WithoutEffect = COMMON_WITHOUT_EFFECT | {
    "linger.ms": LONG,
    "max.block.ms": LONG,
    "metadata.max.idle.ms": LONG,
    "partitioner.adaptive.partitioning.enable": BOOLEAN,
    "partitioner.availability.timeout.ms": LONG,
    "partitioner.ignore.keys": BOOLEAN,
    "retries": INT,
}
BATCH_BYTES_MAX = 1_000_000  # below the default limit of topics, 1,048,588


@dataclass(frozen=True)
class ProducerOptions:
    compression: str = option(
        "compression.type",
        "none",
        STRING,
        one_of_any_case(*CODECS),
        "Compression of batches: none, gzip, snappy, lz4 or zstd.",
    )
    gzip_level: int | None = option(
        "compression.gzip.level", None, optional(INT), between(-1, 9), "The level of gzip."
    )
    lz4_level: int | None = option(
        "compression.lz4.level", None, optional(INT), between(1, 17), "The level of lz4."
    )
    zstd_level: int | None = option(
        "compression.zstd.level", None, optional(INT), between(-131072, 22), "The level of zstd."
    )
    batch_bytes: int = option(
        "batch.size",
        BATCH_BYTES_MAX,
        INT,
        between(1, 2**31 - 1),
        "Bytes of records in a batch, before compression. Kafka's default is 16 KiB; larger "
        "batches are faster, and a task has many rows at once.",
    )
    transaction_timeout_ms: int = option(
        "transaction.timeout.ms",
        15 * MINUTE_MS,
        INT,
        between(1, 2**31 - 1),
        "How long a micro-batch may take to write, and a driver may be away after it has decided "
        "to commit it.",
    )
    idempotence: bool = option(
        "enable.idempotence",
        True,
        BOOLEAN,
        lambda _name, value: (
            None
            if value
            else "kafka.enable.idempotence must stay true: no attempt may write a row twice"
        ),
        "Must stay true.",
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
    values = {
        _ATTRIBUTES[name]: parse_option(_OPTIONS[name], properties.pop(name), KAFKA_PREFIX)
        for name in [each for each in properties if each in _OPTIONS]
    }
    return ProducerOptions(**values), _client_settings(properties)


def _client_settings(properties: dict[str, str]) -> ClientSettings:
    settings = client_settings(properties, WITHOUT_EFFECT, "ottla-spark-sink", _OPTIONS)
    if settings.acks != -1:
        raise InvalidOption("Option kafka.acks must be all: an idempotent producer needs it.")
    return settings
