"""`ottla topics describe`: show partitions, offsets and settings of topics."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.partition_offsets import partition_ends
from ottla.cli.cluster.topic_configs import is_set_on_topic, topic_configs
from ottla.cli.cluster.topics import (
    add_topics_argument,
    all_topics,
    chosen_topics,
    given_topics,
)
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, fields_text, table

PARTITION_COLUMNS = (
    Column("PARTITION", "partition"),
    Column("LEADER", "leader"),
    Column("REPLICAS", "replicas"),
    Column("IN-SYNC", "in_sync_replicas"),
    Column("START", "start_offset"),
    Column("END", "end_offset"),
)
SETTING_COLUMNS = (Column("SETTING", "name"), Column("VALUE", "value"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_topics_argument(parser, "names, or patterns such as 'orders*'")
    parser.add_argument(
        "-a",
        "--all",
        action="store_true",
        help="show all settings, not only those set for the topic",
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    given = given_topics(arguments)
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    topics = all_topics(connection, admin)
    names = chosen_topics(given, topics)
    settings = topic_settings(connection, admin, names, with_defaults=arguments.all)
    led = [
        TopicPartition(name, number)
        for name in names
        for number, partition in topics[name].partitions.items()
        if partition.leader >= 0
    ]
    starts, ends = partition_ends(connection, admin, led)
    document = [
        {
            "topic": name,
            "partitions": [
                partition_document(
                    partition,
                    starts.get(TopicPartition(name, number)),
                    ends.get(TopicPartition(name, number)),
                )
                for number, partition in sorted(topics[name].partitions.items())
            ],
            "settings": settings[name],
        }
        for name in names
    ]
    show(arguments.format, document, lambda: "\n\n".join(map(as_text, document)))
    return 0


def partition_document(partition: Any, start: int | None, end: int | None) -> dict[str, Any]:
    return {
        "partition": partition.id,
        "leader": partition.leader if partition.leader >= 0 else None,
        "replicas": list(partition.replicas),
        "in_sync_replicas": list(partition.isrs),
        "start_offset": start,
        "end_offset": end,
    }


def topic_settings(
    connection: ClusterConnection, admin: Any, names: list[str], *, with_defaults: bool
) -> dict[str, dict[str, str | None]]:
    return {
        topic: {
            name: entry.value
            for name, entry in entries.items()
            if with_defaults or is_set_on_topic(entry)
        }
        for topic, entries in topic_configs(connection, admin, names).items()
    }


def as_text(topic: dict[str, Any]) -> str:
    rows = topic["partitions"]
    settings = [{"name": name, "value": value} for name, value in topic["settings"].items()]
    parts = [
        fields_text([("topic", topic["topic"]), ("records", record_count(rows))]),
        table(PARTITION_COLUMNS, rows),
    ]
    if settings:
        parts.append(table(SETTING_COLUMNS, settings))
    return "\n".join(parts)


def record_count(rows: list[dict[str, Any]]) -> str:
    """An upper bound: compaction and transactions leave gaps between offsets."""
    known = [row for row in rows if row["end_offset"] is not None]
    count = sum(row["end_offset"] - row["start_offset"] for row in known)
    return f"{count} at most" if len(known) == len(rows) else f"{count} at most, not all known"
