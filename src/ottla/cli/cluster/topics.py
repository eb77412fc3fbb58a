"""The topics of a cluster, and errors about names that it does not have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.cli.cluster.connection import Connection, confluent_kafka
from ottla.cli.errors import CommandFailed, suggestions

SEE_TOPICS = "see: ottla topics list"
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")


def all_topics(connection: Connection, client: Any) -> dict[str, Any]:
    """All topics by name, with their partitions."""
    return dict(connection.metadata(client).topics)


def require_topics(names: Iterable[str], known: dict[str, Any]) -> None:
    """CommandFailed names those that are missing, and similar names."""
    missing = [name for name in names if name not in known]
    if missing:
        advice = [line for name in missing for line in suggestions(name, known)]
        raise CommandFailed(
            "\n".join(f"there is no topic {name}" for name in missing),
            *(advice or [SEE_TOPICS]),
        )


def advice_about(error: Any, name: str, known: Iterable[str]) -> list[str]:
    """For errors that are about the topic's name."""
    if error.code() == confluent_kafka().KafkaError.UNKNOWN_TOPIC_OR_PART:
        return suggestions(name, known) or [SEE_TOPICS]
    return []
