"""The topics that exist, for commands that were given a name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.cli.connection import Connection, confluent_kafka
from ottla.cli.problems import CommandFailed, hint

TOPICS_LIST = "ottla topics list shows those there are"
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")


def known_topics(connection: Connection, client: Any) -> dict[str, Any]:
    """All topics by name, with their partitions."""
    return dict(connection.metadata(client).topics)


def require_topics(names: Iterable[str], known: dict[str, Any]) -> None:
    """CommandFailed names those that are missing, and what they may have been meant to be."""
    missing = [name for name in names if name not in known]
    if missing:
        advice = [line for name in missing for line in hint(name, known)]
        raise CommandFailed(
            "\n".join(f"there is no topic {name}" for name in missing),
            *(advice or [TOPICS_LIST]),
        )


def advice_about(error: Any, name: str, known: Iterable[str]) -> list[str]:
    """For errors that are about the topic's name."""
    if error.code() == confluent_kafka().KafkaError.UNKNOWN_TOPIC_OR_PART:
        return hint(name, known) or [TOPICS_LIST]
    return []
