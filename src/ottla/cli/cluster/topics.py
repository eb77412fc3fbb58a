"""The topics of a cluster: choosing them by name or pattern, and errors about unknown names."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.cluster.names import require_known
from ottla.cli.errors import USAGE, CommandFailed, suggestions

SEE_TOPICS = "see: ottla topics list"
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")
PATTERN_CHARACTERS = "*?["


def add_topics_argument(parser: argparse.ArgumentParser, help_text: str | None = None) -> None:
    """TOPIC..., or --topic as in Kafka's own tools."""
    parser.add_argument("topics", nargs="*", default=[], metavar="TOPIC", help=help_text)
    parser.add_argument(
        "--topic", action="append", default=[], dest="topic_options", metavar="TOPIC",
        help="the same as TOPIC; may be repeated",
    )  # fmt: skip


def given_topics(arguments: argparse.Namespace, advice: str = SEE_TOPICS) -> list[str]:
    """The names and patterns that were given, each once."""
    names = [name for each in arguments.topic_options for name in each.split(",")]
    given = list(dict.fromkeys([*arguments.topics, *names]))
    if not given:
        raise CommandFailed("name a topic", advice, code=USAGE)
    return given


def given_names(arguments: argparse.Namespace) -> list[str]:
    """The names that were given to a command that changes topics, where patterns are refused."""
    given = given_topics(arguments)
    refuse_patterns(given)
    return given


def refuse_patterns(given: Iterable[str]) -> None:
    patterns = [name for name in given if is_pattern(name)]
    if patterns:
        raise CommandFailed(
            f"patterns are not accepted here: {', '.join(patterns)}",
            f"see: ottla topics list '{patterns[0]}'",
            code=USAGE,
        )


def all_topics(connection: ClusterConnection, client: Any) -> dict[str, Any]:
    """All topics by name, with their partitions."""
    return dict(connection.metadata(client).topics)


def is_pattern(name: str) -> bool:
    return any(char in name for char in PATTERN_CHARACTERS)


def chosen_topics(given: Iterable[str], topics: dict[str, Any]) -> list[str]:
    """The names, and for patterns such as `orders*` the topics that match."""
    chosen: dict[str, None] = {}
    for name in given:
        found = matching_topics(name, topics)
        if not found and is_pattern(name):
            raise CommandFailed(f"no topic matches {name}", SEE_TOPICS)
        chosen |= dict.fromkeys(found or [name])
    require_topics(chosen, topics)
    return list(chosen)


def matching_topics(name: str, topics: Iterable[str]) -> list[str]:
    """The topic of this name, or those that match the pattern.

    A pattern matches internal topics only if it begins with two underscores.
    """
    if not is_pattern(name):
        return [name] if name in topics else []
    return [
        each
        for each in sorted(topics)
        if fnmatchcase(each, name) and (each not in INTERNAL or name.startswith("__"))
    ]


def require_topics(names: Iterable[str], topics: dict[str, Any]) -> None:
    require_known("topic", names, topics, SEE_TOPICS)


def with_other_partitions(
    topics: dict[str, Any], partitions: Iterable[TopicPartition]
) -> list[TopicPartition]:
    """These and all other partitions of the same topics."""
    given = set(partitions)
    names = {each.topic for each in given} & topics.keys()
    others = {TopicPartition(name, number) for name in names for number in topics[name].partitions}
    return sorted(given | others)


def advice_about(error: Any, name: str, topics: Iterable[str]) -> list[str]:
    """Advice for errors that are about the topic's name."""
    if error.code() == confluent_kafka().KafkaError.UNKNOWN_TOPIC_OR_PART:
        return suggestions(name, topics) or [SEE_TOPICS]
    return []
