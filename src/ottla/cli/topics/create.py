"""`ottla topics create`: create topics."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.connection import Connection, add_connection_arguments, confluent_kafka
from ottla.cli.outcomes import Outcome, attempt, report
from ottla.cli.output import add_format_argument
from ottla.cli.topics.settings import advice_about_settings, parse_settings

BROKER_DEFAULT = -1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topics", nargs="+", metavar="TOPIC")
    parser.add_argument(
        "-p", "--partitions", type=int, default=BROKER_DEFAULT, metavar="N",
        help="how many partitions (the broker's default)",
    )  # fmt: skip
    parser.add_argument(
        "-r", "--replicas", type=int, default=BROKER_DEFAULT, metavar="N",
        help="how many brokers keep each partition (the broker's default)",
    )  # fmt: skip
    parser.add_argument(
        "-c", "--config", action="append", default=[], metavar="NAME=VALUE",
        help="a setting under Kafka's name, such as cleanup.policy=compact",
    )  # fmt: skip
    parser.add_argument(
        "--if-not-exists", action="store_true", help="leave a topic alone that exists already"
    )
    parser.add_argument("--dry-run", action="store_true", help="only check whether it would work")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    settings = parse_settings(arguments.config)
    connection = Connection.of(arguments)
    admin = connection.admin()
    futures = admin.create_topics(
        [wanted(name, arguments, settings) for name in dict.fromkeys(arguments.topics)],
        operation_timeout=connection.timeout_s,
        request_timeout=connection.timeout_s,
        validate_only=arguments.dry_run,
    )
    verb = "would create" if arguments.dry_run else "created"
    outcomes = [
        create(name, connection, future, verb, arguments, list(settings))
        for name, future in futures.items()
    ]
    return report("ottla topics create", "topic", arguments.format, outcomes)


def wanted(name: str, arguments: argparse.Namespace, settings: dict[str, str]) -> Any:
    confluent_kafka()
    from confluent_kafka.admin import NewTopic

    return NewTopic(name, arguments.partitions, arguments.replicas, config=settings)


def create(
    name: str,
    connection: Connection,
    future: Any,
    verb: str,
    arguments: argparse.Namespace,
    settings: list[str],
) -> Outcome:
    exists = confluent_kafka().KafkaError.TOPIC_ALREADY_EXISTS

    def work() -> str:
        try:
            connection.wait(future)
        except confluent_kafka().KafkaException as error:
            if error.args[0].code() == exists and arguments.if_not_exists:
                return f"{name} exists already"
            raise
        return f"{verb} {name}"

    def advice(error: Any) -> list[str]:
        if error.code() == exists:
            return ["--if-not-exists accepts that"]
        return advice_about_settings(error, settings)

    return attempt(name, work, advice)
