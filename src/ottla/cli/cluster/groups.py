"""Consumer groups of a cluster: their states, members and committed offsets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import Connection, confluent_kafka
from ottla.cli.errors import CommandFailed, suggestions

SEE_GROUPS = "see: ottla groups list"
IDLE_STATES = ("Empty", "Dead", "Unknown")


def all_groups(connection: Connection, admin: Any) -> dict[str, Any]:
    """The groups of all brokers, by name."""
    result = connection.wait(admin.list_consumer_groups(request_timeout=connection.timeout_s))
    if result.errors and not result.valid:
        raise result.errors[0]
    return {group.group_id: group for group in result.valid}


def require_groups(names: Iterable[str], known: dict[str, Any]) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        advice = [line for name in missing for line in suggestions(name, known)]
        raise CommandFailed(
            "\n".join(f"there is no group {name}" for name in missing),
            *(advice or [SEE_GROUPS]),
        )


def described_groups(connection: Connection, admin: Any, names: list[str]) -> dict[str, Any]:
    futures = admin.describe_consumer_groups(names, request_timeout=connection.timeout_s)
    return {name: connection.wait(future) for name, future in futures.items()}


def committed_offsets(connection: Connection, admin: Any, group: str) -> dict[TopicPartition, int]:
    """Offsets that the group has committed; partitions without a commit are left out."""
    library = confluent_kafka()
    futures = admin.list_consumer_group_offsets(
        [library.ConsumerGroupTopicPartitions(group)], request_timeout=connection.timeout_s
    )
    result = connection.wait(futures[group])
    return {
        TopicPartition(each.topic, each.partition): each.offset
        for each in result.topic_partitions
        if each.offset >= 0
    }


def state_name(state: Any) -> str:
    """As Kafka writes it: PreparingRebalance."""
    return "".join(word.capitalize() for word in state.name.split("_"))
