"""`ottla groups delete`: delete groups with their offsets."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.connection import Connection, add_connection_arguments, confluent_kafka
from ottla.cli.groups.known import GROUPS_LIST, known_groups
from ottla.cli.outcomes import Outcome, attempt, report
from ottla.cli.output import add_format_argument
from ottla.cli.problems import hint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("groups", nargs="+", metavar="GROUP")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    admin = connection.admin()
    futures = admin.delete_consumer_groups(
        list(dict.fromkeys(arguments.groups)), request_timeout=connection.timeout_s
    )
    outcomes = [delete(connection, admin, name, future) for name, future in futures.items()]
    return report("ottla groups delete", "group", arguments.format, outcomes)


def delete(connection: Connection, admin: Any, name: str, future: Any) -> Outcome:
    library = confluent_kafka().KafkaError

    def work() -> str:
        connection.wait(future)
        return f"deleted {name}"

    def advice(error: Any) -> list[str]:
        if error.code() == library.NON_EMPTY_GROUP:
            return ["stop its members first; ottla groups describe shows them"]
        if error.code() == library.GROUP_ID_NOT_FOUND:
            return hint(name, known_groups(connection, admin)) or [GROUPS_LIST]
        return []

    return attempt(name, work, advice, {library.GROUP_ID_NOT_FOUND: "there is no such group"})
