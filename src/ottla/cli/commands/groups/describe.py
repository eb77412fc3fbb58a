"""`ottla groups describe`: show members, offsets and lag of groups."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.groups import (
    add_groups_argument,
    all_groups,
    chosen_groups,
    committed_offsets,
    described_groups,
    given_groups,
    partition_lag,
    state_name,
    total_lag,
)
from ottla.cli.cluster.lag_time import first_timestamps_at
from ottla.cli.cluster.partition_offsets import existing_offsets
from ottla.cli.cluster.topics import all_topics, with_other_partitions
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, count_text, fields_text, table
from ottla.config.addresses import Address
from ottla.config.durations import format_duration

COLUMNS = (
    Column("TOPIC", "topic"),
    Column("PARTITION", "partition"),
    Column("COMMITTED", "committed_offset"),
    Column("END", "end_offset"),
    Column("LAG", "lag"),
    Column("WAITING", "lag_ms", format_duration),
    Column("CLIENT", "client_id"),
    Column("HOST", "host"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_groups_argument(parser, "names, or patterns such as 'billing*'")
    parser.add_argument(
        "-t", "--time", action="store_true",
        help="also show the age of the first record that was not read",
    )  # fmt: skip
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    given = given_groups(arguments)
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    names = chosen_groups(given, all_groups(connection, admin))
    described = described_groups(connection, admin, names)
    document = [
        group_document(connection, admin, described[name], with_time=arguments.time)
        for name in names
    ]
    show(arguments.format, document, lambda: "\n\n".join(map(as_text, document)))
    return 0


def group_document(
    connection: ClusterConnection, admin: Any, group: Any, *, with_time: bool
) -> dict[str, Any]:
    committed = committed_offsets(connection, admin, group.group_id)
    readers = readers_of(group)
    partitions = with_other_partitions(
        all_topics(connection, admin), committed.keys() | readers.keys()
    )
    offsets = existing_offsets(connection, admin, partitions)
    rows = [
        row(each, committed.get(each), offsets.get(each), readers.get(each)) for each in partitions
    ]
    if with_time:
        add_waiting_times(connection, rows)
    return {
        "group": group.group_id,
        "state": state_name(group.state),
        "assignor": group.partition_assignor or None,
        "coordinator": str(Address(group.coordinator.host, group.coordinator.port)),
        "members": [member_document(member) for member in group.members],
        "lag": total_lag(each["lag"] for each in rows),
        "partitions": rows,
    }


def readers_of(group: Any) -> dict[TopicPartition, Any]:
    return {
        TopicPartition(each.topic, each.partition): member
        for member in group.members
        for each in (member.assignment.topic_partitions if member.assignment else ())
    }


def row(
    partition: TopicPartition,
    committed: int | None,
    offsets: tuple[int, int] | None,
    reader: Any,
) -> dict[str, Any]:
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "committed_offset": committed,
        "end_offset": None if offsets is None else offsets[1],
        "lag": partition_lag(committed, offsets),
        "client_id": None if reader is None else reader.client_id,
        "host": None if reader is None else reader.host,
    }


def member_document(member: Any) -> dict[str, Any]:
    return {
        "member_id": member.member_id,
        "group_instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "host": member.host,
    }


def add_waiting_times(connection: ClusterConnection, rows: list[dict[str, Any]]) -> None:
    behind = {
        TopicPartition(each["topic"], each["partition"]): each["committed_offset"]
        for each in rows
        if each["lag"]
    }
    now_ms = round(time.time() * 1000)
    since_ms = first_timestamps_at(connection, behind)
    for each in rows:
        found_ms = since_ms.get(TopicPartition(each["topic"], each["partition"]))
        each["lag_ms"] = 0 if each["lag"] == 0 else None
        if found_ms is not None:
            each["lag_ms"] = max(0, now_ms - found_ms)


def lag_text(group: dict[str, Any]) -> str | None:
    """The total, or what is known of it."""
    lags = [each["lag"] for each in group["partitions"]]
    known = [lag for lag in lags if lag is not None]
    if group["lag"] is not None or not known:
        return None if group["lag"] is None else str(group["lag"])
    unknown = count_text(len(lags) - len(known), "partition")
    return f"{sum(known)}, and unknown in {unknown}"


def as_text(group: dict[str, Any]) -> str:
    about = fields_text(
        [
            ("group", group["group"]),
            ("state", group["state"]),
            ("assignor", group["assignor"]),
            ("coordinator", group["coordinator"]),
            ("members", str(len(group["members"]))),
            ("lag", lag_text(group)),
        ]
    )
    rows = group["partitions"]
    if not rows:
        return about
    columns = [column for column in COLUMNS if column.field in rows[0]]
    return f"{about}\n{table(columns, rows)}"
