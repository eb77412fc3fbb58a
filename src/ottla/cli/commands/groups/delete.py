"""`ottla groups delete`: delete groups with their committed offsets."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.cluster.connection import (
    ClusterConnection,
    NoResponse,
    add_connection_arguments,
    confluent_kafka,
)
from ottla.cli.cluster.coordinators import wait_for_coordinator
from ottla.cli.cluster.groups import (
    SEE_GROUPS,
    add_groups_argument,
    all_groups,
    given_groups,
    report_missing_groups,
)
from ottla.cli.cluster.topics import is_pattern
from ottla.cli.errors import CommandFailed, suggestions
from ottla.cli.output.documents import add_format_argument
from ottla.cli.output.outcomes import Outcome, attempt, report

MAY_BE_DELETED = "it may have been deleted nevertheless; see: ottla groups list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_groups_argument(parser)
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    groups = given_groups(arguments)
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    report_missing_groups(connection, admin)
    futures = admin.delete_consumer_groups(groups, request_timeout=connection.timeout_s)
    outcomes = [delete(connection, admin, name, future) for name, future in futures.items()]
    return report("ottla groups delete", "group", arguments.format, outcomes)


def delete(connection: ClusterConnection, admin: Any, name: str, future: Any) -> Outcome:
    library = confluent_kafka().KafkaError

    def work() -> str:
        try:
            wait_for_coordinator(connection, name, future)
        except NoResponse as error:
            raise CommandFailed(error.message, MAY_BE_DELETED, *error.advice) from error
        return f"deleted {name}"

    def advice(error: Any) -> list[str]:
        if error.code() == library.NON_EMPTY_GROUP:
            return [f"stop its members first: see ottla groups describe {name}"]
        if error.code() == library.GROUP_ID_NOT_FOUND:
            if is_pattern(name):
                return [f"patterns are not accepted here; see: ottla groups list '{name}'"]
            return suggestions(name, all_groups(connection, admin)) or [SEE_GROUPS]
        return []

    return attempt(name, work, advice, {library.GROUP_ID_NOT_FOUND: "there is no such group"})
