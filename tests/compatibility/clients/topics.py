"""Topics made, changed and deleted for a test, with librdkafka's admin client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

PATIENCE_S = 30.0


def admin_of(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


def only(futures: Mapping[Any, Any]) -> Any:
    """The result of an admin call about one thing; what it was refused with is raised."""
    (future,) = futures.values()
    return future.result(PATIENCE_S)


def create_topic(
    bootstrap: str, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
) -> None:
    only(admin_of(bootstrap).create_topics([NewTopic(name, partitions, 1, config=config or {})]))


def delete_topic(bootstrap: str, name: str) -> None:
    only(admin_of(bootstrap).delete_topics([name]))


def delete_records(bootstrap: str, name: str, before: int, partition: int = 0) -> int:
    """Where the partition begins now."""
    where = TopicPartition(name, partition, before)
    low_watermark: int = only(admin_of(bootstrap).delete_records([where])).low_watermark
    return low_watermark
