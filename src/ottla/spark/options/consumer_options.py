"""Options that begin with `kafka.`: settings of the client under Kafka's names.

Owns      which of them our client takes, which need another option here, which change nothing.
Promises  whatever is neither is refused by its name, before anything is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.client.settings import ClientSettings
from ottla.spark.options.kafka_settings import client_settings, kafka_properties

REFUSED = {
    "auto.offset.reset": "use the option startingOffsets; new partitions begin at earliest",
    "enable.auto.commit": "use the option commitOffsets; the checkpoint decides what is read",
    "key.deserializer": "keys are bytes; decode them with functions of DataFrames",
    "value.deserializer": "values are bytes; decode them with functions of DataFrames, or with "
    "the option valueFormat",
    "key.serializer": "it is for writing",
    "value.serializer": "it is for writing",
    "interceptor.classes": "they are Java classes",
    "metric.reporters": "they are Java classes",
}

# What a consumer in a group needs, or Java's threads and sockets: jobs have them, nothing here
# depends on them. They are accepted so that a job need not change.
WITHOUT_EFFECT = frozenset({
    "allow.auto.create.topics", "auto.commit.interval.ms", "client.dns.lookup", "client.rack",
    "connections.max.idle.ms", "exclude.internal.topics", "group.instance.id",
    "heartbeat.interval.ms", "max.poll.interval.ms", "max.poll.records", "metadata.max.age.ms",
    "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms",
    "partition.assignment.strategy", "reconnect.backoff.max.ms", "reconnect.backoff.ms",
    "session.timeout.ms", "socket.connection.setup.timeout.max.ms",
})  # fmt: skip
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
    if poll_timeout_ms is not None:
        properties.setdefault("default.api.timeout.ms", str(max(1, poll_timeout_ms)))
    return KafkaOptions(client_settings(properties, WITHOUT_EFFECT, "ottla-spark"), group_id)
