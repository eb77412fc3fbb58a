"""`ottla topics list`: the topics of the cluster."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from typing import Any

from ottla.cli.connection import Connection, add_connection_arguments
from ottla.cli.output import add_format_argument, show, table
from ottla.cli.topics.known import INTERNAL, known_topics


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="only these, such as 'orders*'"
    )
    parser.add_argument("-i", "--internal", action="store_true", help="also Kafka's own topics")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    known = known_topics(connection, connection.admin())
    names = chosen(sorted(known), arguments.patterns, with_internal=arguments.internal)
    document = [summary(known[name]) for name in names]
    show(
        arguments.format,
        document,
        lambda: table(
            ("TOPIC", "PARTITIONS", "REPLICAS"), (list(row.values()) for row in document)
        ),
    )
    return 0


def chosen(names: list[str], patterns: list[str], *, with_internal: bool) -> list[str]:
    """A pattern that is exactly an internal topic's name gets it."""
    return [
        name
        for name in names
        if (with_internal or name not in INTERNAL or name in patterns)
        and (not patterns or any(fnmatchcase(name, pattern) for pattern in patterns))
    ]


def summary(topic: Any) -> dict[str, Any]:
    replicas = [len(partition.replicas) for partition in topic.partitions.values()]
    return {
        "topic": topic.topic,
        "partitions": len(topic.partitions),
        "replicas": max(replicas, default=0),
    }
