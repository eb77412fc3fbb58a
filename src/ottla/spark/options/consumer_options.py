"""Options for reading that begin with `kafka.`: a consumer's settings under Kafka's names.

Owns      which settings are refused because another option replaces them, and which are accepted
          without effect.
Promises  a setting that is neither, and that the client does not have, is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.client.settings import ClientSettings
from ottla.config.kinds import BOOLEAN, INT, LIST, STRING
from ottla.config.options import InvalidOption
from ottla.spark.options.kafka_settings import (
    COMMON_WITHOUT_EFFECT,
    WithoutEffect,
    client_settings,
    kafka_properties,
)

REFUSED = {
    "auto.offset.reset": "use the option startingOffsets; new partitions begin at earliest",
    "enable.auto.commit": "use the option commitOffsets; the checkpoint decides what is read",
    "key.deserializer": "keys are bytes; decode them with functions of DataFrames",
    "value.deserializer": "values are bytes; decode them with functions of DataFrames, or with "
    "the option valueFormat",
    "key.serializer": "it is for writing",
    "value.serializer": "it is for writing",
    "batch.size": "it is for writing",
    "compression.type": "it is for writing",
    "enable.idempotence": "it is for writing",
    "linger.ms": "it is for writing",
    "transactional.id": "it is for writing",
    "interceptor.classes": "they are Java classes",
    "metric.reporters": "they are Java classes",
}

# Settings of consumer group members: this source is not a member.
WITHOUT_EFFECT: WithoutEffect = COMMON_WITHOUT_EFFECT | {
    "allow.auto.create.topics": BOOLEAN,
    "auto.commit.interval.ms": INT,
    "exclude.internal.topics": BOOLEAN,
    "group.instance.id": STRING,
    "heartbeat.interval.ms": INT,
    "max.poll.interval.ms": INT,
    "max.poll.records": INT,
    "partition.assignment.strategy": LIST,
    "session.timeout.ms": INT,
}
GROUP_ID = "group.id"


@dataclass(frozen=True)
class KafkaOptions:
    settings: ClientSettings
    group_id: str | None


def parse_kafka_options(
    texts: Mapping[str, str], poll_timeout_ms: int | None = None
) -> KafkaOptions:
    """InvalidOption names the option as the user wrote it."""
    properties = kafka_properties(texts, REFUSED)
    group_id = properties.pop(GROUP_ID, None)
    if group_id is not None and not group_id.strip():
        raise InvalidOption("Option kafka.group.id is empty: give a name, or remove the option.")
    if poll_timeout_ms is not None:
        properties.setdefault("default.api.timeout.ms", str(max(1, poll_timeout_ms)))
    return KafkaOptions(_client_settings(properties), group_id)


def _client_settings(properties: Mapping[str, str]) -> ClientSettings:
    return client_settings(properties, WITHOUT_EFFECT, "ottla-spark", (GROUP_ID,))
