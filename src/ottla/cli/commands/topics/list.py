"""`ottla topics list`: list topics."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.names import matches_any, report_unmatched
from ottla.cli.cluster.topics import INTERNAL, all_topics
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, table

COLUMNS = (
    Column("TOPIC", "topic"),
    Column("PARTITIONS", "partitions"),
    Column("REPLICAS", "replicas"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="only these topics, such as 'orders*'"
    )
    parser.add_argument(
        "-i", "--internal", action="store_true", help="include internal topics of Kafka"
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = ClusterConnection.of(arguments)
    topics = all_topics(connection, connection.admin())
    names = chosen(sorted(topics), arguments.patterns, with_internal=arguments.internal)
    document = [topic_summary(topics[name]) for name in names]
    show(arguments.format, document, lambda: table(COLUMNS, document))
    report_unmatched("ottla topics list", "topic", arguments.patterns, names)
    return 0


def chosen(names: list[str], patterns: list[str], *, with_internal: bool) -> list[str]:
    """A pattern matches internal topics only if it begins with two underscores."""
    for_internal = [each for each in patterns if each.startswith("__")]

    def is_chosen(name: str) -> bool:
        if with_internal or name not in INTERNAL:
            return matches_any(name, patterns)
        return bool(for_internal) and matches_any(name, for_internal)

    return [name for name in names if is_chosen(name)]


def topic_summary(topic: Any) -> dict[str, Any]:
    replicas = [len(partition.replicas) for partition in topic.partitions.values()]
    return {
        "topic": topic.topic,
        "partitions": len(topic.partitions),
        "replicas": max(replicas, default=0),
    }
