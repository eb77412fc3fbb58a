"""`ottla groups list`: list consumer groups."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.groups import (
    all_groups,
    committed_offsets_of,
    described_groups,
    partition_lag,
    state_name,
    total_lag,
)
from ottla.cli.cluster.names import matches_any, report_unmatched
from ottla.cli.cluster.partition_offsets import existing_offsets
from ottla.cli.cluster.topics import all_topics, with_other_partitions
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, table

COLUMNS = (
    Column("GROUP", "group"),
    Column("STATE", "state"),
    Column("MEMBERS", "members"),
    Column("COORDINATOR", "coordinator"),
    Column("LAG", "lag"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="only these groups, such as 'billing*'"
    )
    parser.add_argument(
        "-l", "--lag", action="store_true", help="also show the lag; needs a request for each group"
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    names = [
        name
        for name in sorted(all_groups(connection, admin))
        if matches_any(name, arguments.patterns)
    ]
    described = described_groups(connection, admin, names) if names else {}
    document = [
        {
            "group": name,
            "state": state_name(described[name].state),
            "members": len(described[name].members),
            "coordinator": described[name].coordinator.id,
        }
        for name in names
    ]
    if arguments.lag:
        lags = lag_of_groups(connection, admin, names)
        document = [{**each, "lag": lags[str(each["group"])]} for each in document]
    columns = COLUMNS if arguments.lag else COLUMNS[:-1]
    show(arguments.format, document, lambda: table(columns, document))
    report_unmatched("ottla groups list", "group", arguments.patterns, names)
    return 0


def lag_of_groups(
    connection: ClusterConnection, admin: Any, groups: list[str]
) -> dict[str, int | None]:
    """The sum over all partitions of the topics that a group reads; None if one is unknown."""
    committed = committed_offsets_of(connection, admin, groups)
    topics = all_topics(connection, admin)
    read = {group: with_other_partitions(topics, each) for group, each in committed.items()}
    offsets = existing_offsets(
        connection, admin, {each for given in read.values() for each in given}
    )
    return {
        group: total_lag(
            partition_lag(committed[group].get(each), offsets.get(each)) for each in partitions
        )
        for group, partitions in read.items()
    }
