"""Settings of topics as the cluster describes them, and similar names for unknown ones."""

from __future__ import annotations

from typing import Any

from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.errors import suggestions

EXAMPLE = "retention.ms=60000"


def topic_configs(
    connection: ClusterConnection, admin: Any, topics: list[str]
) -> dict[str, dict[str, Any]]:
    """The entries (`value`, `source`) of each topic, by the name of the setting."""
    from confluent_kafka.admin import ConfigResource, ResourceType

    futures = admin.describe_configs(
        [ConfigResource(ResourceType.TOPIC, name) for name in topics],
        request_timeout=connection.timeout_s,
    )
    return {
        resource.name: dict(sorted(connection.wait(future).items()))
        for resource, future in futures.items()
    }


def message_bytes_max(connection: ClusterConnection, admin: Any, topic: str) -> int | None:
    """The largest batch that the topic accepts; None if it is not known."""
    return topic_number(connection, admin, topic, "max.message.bytes")


def topic_number(connection: ClusterConnection, admin: Any, topic: str, name: str) -> int | None:
    """A setting of the topic; None if it is not known."""
    try:
        entry = topic_configs(connection, admin, [topic])[topic].get(name)
    except confluent_kafka().KafkaException:  # describing topics may not be allowed
        return None
    return None if entry is None else int(entry.value)


def is_set_on_topic(entry: Any) -> bool:
    """Whether the topic itself has the setting, and not a default."""
    from confluent_kafka.admin import ConfigSource

    return bool(entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value)


def creates_topics(connection: ClusterConnection, admin: Any, broker_id: int) -> bool | None:
    """Whether brokers create topics automatically; None if it is not known."""
    from confluent_kafka.admin import ConfigResource, ResourceType

    (future,) = admin.describe_configs(
        [ConfigResource(ResourceType.BROKER, str(broker_id))], request_timeout=connection.timeout_s
    ).values()
    try:
        entry = connection.wait(future).get("auto.create.topics.enable")
    except confluent_kafka().KafkaException:  # describing brokers may not be allowed
        return None
    return None if entry is None else entry.value == "true"


def advice_about_configs(error: Any, names: list[str]) -> list[str]:
    """Similar names, where the cluster does not know those that were given."""
    if error.code() not in (
        confluent_kafka().KafkaError.INVALID_CONFIG,
        confluent_kafka().KafkaError.INVALID_REQUEST,
    ):
        return []
    from ottla.config.resource_options import TOPIC_OPTIONS

    unknown = [name for name in names if name not in TOPIC_OPTIONS]
    return [line for name in unknown for line in suggestions(name, TOPIC_OPTIONS)]
