"""`ottla topics delete`: delete topics with all their records."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.cluster.connection import (
    ClusterConnection,
    add_connection_arguments,
    confluent_kafka,
)
from ottla.cli.cluster.topics import (
    INTERNAL,
    add_topics_argument,
    advice_about,
    all_topics,
    given_names,
)
from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.output.documents import add_format_argument
from ottla.cli.output.outcomes import Outcome, attempt, report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_topics_argument(parser)
    parser.add_argument(
        "--if-exists", action="store_true", help="do not fail if a topic does not exist"
    )
    parser.add_argument(
        "--internal", action="store_true", help="allow deleting internal topics of Kafka"
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    topics = given_names(arguments)
    internal = [name for name in topics if name in INTERNAL]
    if internal and not arguments.internal:
        raise CommandFailed(
            f"{', '.join(internal)} is internal: it keeps the state of all groups or transactions",
            "--internal deletes it nevertheless",
            code=USAGE,
        )
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    futures = admin.delete_topics(
        topics,
        operation_timeout=connection.timeout_s,
        request_timeout=connection.timeout_s,
    )
    outcomes = [
        delete(name, connection, admin, future, may_miss=arguments.if_exists)
        for name, future in futures.items()
    ]
    return report("ottla topics delete", "topic", arguments.format, outcomes)


def delete(
    name: str, connection: ClusterConnection, admin: Any, future: Any, *, may_miss: bool
) -> Outcome:
    def work() -> str:
        try:
            connection.wait(future)
        except confluent_kafka().KafkaException as error:
            code = error.args[0].code()
            if code == confluent_kafka().KafkaError.UNKNOWN_TOPIC_OR_PART and may_miss:
                return f"{name} does not exist"
            raise
        return f"deleted {name}"

    return attempt(
        name,
        work,
        lambda error: advice_about(error, name, all_topics(connection, admin)),
        {confluent_kafka().KafkaError.UNKNOWN_TOPIC_OR_PART: "there is no such topic"},
    )
