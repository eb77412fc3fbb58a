"""Topics made, changed and deleted for a test, with librdkafka's admin client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

PATIENCE_S = 120.0


def admin_of(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


def create_topic(
    bootstrap: str, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
) -> None:
    admin = admin_of(bootstrap)
    only(admin.create_topics([NewTopic(name, partitions, 1, config=config or {})]))


def delete_topic(bootstrap: str, name: str) -> None:
    admin = admin_of(bootstrap)
    only(admin.delete_topics([name]))


def delete_records(bootstrap: str, name: str, before: int, partition: int = 0) -> int:
    """Where the partition begins now."""
    admin = admin_of(bootstrap)
    where = TopicPartition(name, partition, before)
    low_watermark: int = only(admin.delete_records([where])).low_watermark
    return low_watermark


def only(futures: Mapping[Any, Any]) -> Any:
    """The result of an admin call about one thing; what it was refused with is raised.

    The admin client must be held meanwhile: without it the answer never comes.
    """
    (future,) = futures.values()
    return future.result(PATIENCE_S)
