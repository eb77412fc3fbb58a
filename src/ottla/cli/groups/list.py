"""`ottla groups list`: the consumer groups of the cluster."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase

from ottla.cli.connection import Connection, add_connection_arguments
from ottla.cli.groups.known import described_groups, known_groups, state_name
from ottla.cli.output import add_format_argument, show, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="only these, such as 'billing*'"
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    admin = connection.admin()
    names = [
        name
        for name in sorted(known_groups(connection, admin))
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
    show(
        arguments.format,
        document,
        lambda: table(
            ("GROUP", "STATE", "MEMBERS", "COORDINATOR"), (list(row.values()) for row in document)
        ),
    )
    return 0
