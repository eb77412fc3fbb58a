"""Consumer groups as the cluster tells them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.cli.connection import Connection, confluent_kafka
from ottla.cli.offsets import Place
from ottla.cli.problems import CommandFailed, hint

GROUPS_LIST = "ottla groups list shows those there are"
IDLE_STATES = ("Empty", "Dead", "Unknown")


def known_groups(connection: Connection, admin: Any) -> dict[str, Any]:
    """What every broker lists, by name."""
    answer = connection.wait(admin.list_consumer_groups(request_timeout=connection.timeout_s))
    if answer.errors and not answer.valid:
        raise answer.errors[0]
    return {group.group_id: group for group in answer.valid}


def require_groups(names: Iterable[str], known: dict[str, Any]) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        advice = [line for name in missing for line in hint(name, known)]
        raise CommandFailed(
            "\n".join(f"there is no group {name}" for name in missing),
            *(advice or [GROUPS_LIST]),
        )


def described_groups(connection: Connection, admin: Any, names: list[str]) -> dict[str, Any]:
    futures = admin.describe_consumer_groups(names, request_timeout=connection.timeout_s)
    return {name: connection.wait(future) for name, future in futures.items()}


def committed_offsets(connection: Connection, admin: Any, group: str) -> dict[Place, int]:
    """What the group has committed; partitions without a commit are left out."""
    library = confluent_kafka()
    futures = admin.list_consumer_group_offsets(
        [library.ConsumerGroupTopicPartitions(group)], request_timeout=connection.timeout_s
    )
    answer = connection.wait(futures[group])
    return {
        (each.topic, each.partition): each.offset
        for each in answer.topic_partitions
        if each.offset >= 0
    }


def state_name(state: Any) -> str:
    """As Kafka writes it: PreparingRebalance."""
    return "".join(word.capitalize() for word in state.name.split("_"))
