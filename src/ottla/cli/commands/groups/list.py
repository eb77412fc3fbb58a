"""`ottla groups list`: list consumer groups."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase

from ottla.cli.cluster.connection import Connection, add_connection_arguments
from ottla.cli.cluster.groups import all_groups, described_groups, state_name
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, table

COLUMNS = (
    Column("GROUP", "group"),
    Column("STATE", "state"),
    Column("MEMBERS", "members"),
    Column("COORDINATOR", "coordinator"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="only these groups, such as 'billing*'"
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    admin = connection.admin()
    names = [
        name
        for name in sorted(all_groups(connection, admin))
        if not arguments.patterns or any(fnmatchcase(name, each) for each in arguments.patterns)
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
    show(arguments.format, document, lambda: table(COLUMNS, document))
    return 0
