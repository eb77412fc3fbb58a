"""`ottla groups describe`: members, offsets and lag of groups."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ottla.cli.connection import Connection, add_connection_arguments, address_text
from ottla.cli.durations import format_duration
from ottla.cli.groups.known import (
    committed_offsets,
    described_groups,
    known_groups,
    require_groups,
    state_name,
)
from ottla.cli.groups.waiting_time import waiting_since
from ottla.cli.offsets import Place, partition_ends
from ottla.cli.output import add_format_argument, facts, show, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("groups", nargs="+", metavar="GROUP")
    parser.add_argument(
        "-t", "--time", action="store_true",
        help="also how long the first record that was not read has been waiting",
    )  # fmt: skip
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    admin = connection.admin()
    names = list(dict.fromkeys(arguments.groups))
    require_groups(names, known_groups(connection, admin))
    described = described_groups(connection, admin, names)
    document = [
        group_document(connection, admin, described[name], with_time=arguments.time)
        for name in names
    ]
    show(arguments.format, document, lambda: "\n\n".join(map(as_text, document)))
    return 0


def group_document(
    connection: Connection, admin: Any, group: Any, *, with_time: bool
) -> dict[str, Any]:
    committed = committed_offsets(connection, admin, group.group_id)
    readers = readers_of(group)
    places = sorted(committed.keys() | readers.keys())
    _starts, ends = partition_ends(connection, admin, places)
    rows = [
        row(place, committed.get(place), ends.get(place), readers.get(place)) for place in places
    ]
    if with_time:
        add_waiting_times(connection, rows)
    return {
        "group": group.group_id,
        "state": state_name(group.state),
        "assignor": group.partition_assignor or None,
        "coordinator": address_text(group.coordinator.host, group.coordinator.port),
        "members": [member_document(member) for member in group.members],
        "lag": sum(each["lag"] or 0 for each in rows),
        "partitions": rows,
    }


def readers_of(group: Any) -> dict[Place, Any]:
    return {
        (each.topic, each.partition): member
        for member in group.members
        for each in (member.assignment.topic_partitions if member.assignment else ())
    }


def row(place: Place, committed: int | None, end: int | None, reader: Any) -> dict[str, Any]:
    return {
        "topic": place[0],
        "partition": place[1],
        "committed_offset": committed,
        "end_offset": end,
        "lag": None if committed is None or end is None else max(0, end - committed),
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


def add_waiting_times(connection: Connection, rows: list[dict[str, Any]]) -> None:
    behind = {
        (each["topic"], each["partition"]): each["committed_offset"] for each in rows if each["lag"]
    }
    now_ms = round(time.time() * 1000)
    since_ms = waiting_since(connection, behind)
    for each in rows:
        found_ms = since_ms.get((each["topic"], each["partition"]))
        each["lag_ms"] = 0 if each["lag"] == 0 else None
        if found_ms is not None:
            each["lag_ms"] = max(0, now_ms - found_ms)


def as_text(group: dict[str, Any]) -> str:
    about = facts(
        [
            ("group", group["group"]),
            ("state", group["state"]),
            ("assignor", group["assignor"]),
            ("coordinator", group["coordinator"]),
            ("members", str(len(group["members"]))),
            ("lag", str(group["lag"])),
        ]
    )
    rows = group["partitions"]
    if not rows:
        return about
    headers = ["TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "CLIENT", "HOST"]
    values = [list(each.values())[:7] for each in rows]
    if "lag_ms" in rows[0]:
        headers.insert(5, "WAITING")
        for each, shown in zip(rows, values, strict=True):
            shown.insert(5, None if each["lag_ms"] is None else format_duration(each["lag_ms"]))
    return f"{about}\n{table(headers, values)}"
