"""`ottla topics create`: create topics."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.arguments.numbers import PARTITIONS_MAX, REPLICAS_MAX, whole_number
from ottla.cli.cluster.connection import (
    ClusterConnection,
    add_connection_arguments,
    confluent_kafka,
)
from ottla.cli.cluster.topic_configs import EXAMPLE, advice_about_configs
from ottla.cli.cluster.topics import add_topics_argument, given_topics
from ottla.cli.output.documents import add_format_argument
from ottla.cli.output.outcomes import Outcome, attempt, report

BROKER_DEFAULT = -1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_topics_argument(parser)
    add("-p", "--partitions", type=whole_number(1, PARTITIONS_MAX), default=BROKER_DEFAULT,
        metavar="N", help="partitions of each topic (default: the broker's)")  # fmt: skip
    add("-r", "--replicas", "--replication-factor", type=whole_number(1, REPLICAS_MAX),
        default=BROKER_DEFAULT, metavar="N",
        help="replication factor (default: the broker's)")  # fmt: skip
    add("-c", "--config", action="append", default=[], metavar="NAME=VALUE",
        help="a topic setting, such as cleanup.policy=compact; may be repeated")  # fmt: skip
    add("--if-not-exists", action="store_true",
        help="do not fail if a topic exists; it is not changed")  # fmt: skip
    add("--dry-run", action="store_true", help="check whether it would succeed, change nothing")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    configs = parse_name_values("-c", arguments.config, EXAMPLE)
    topics = given_topics(arguments, "such as: ottla topics create orders")
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    futures = admin.create_topics(
        [new_topic(name, arguments, configs) for name in topics],
        operation_timeout=connection.timeout_s,
        request_timeout=connection.timeout_s,
        validate_only=arguments.dry_run,
    )
    verb = "would create" if arguments.dry_run else "created"
    outcomes = [
        create(name, connection, future, verb, arguments, list(configs))
        for name, future in futures.items()
    ]
    return report("ottla topics create", "topic", arguments.format, outcomes)


def new_topic(name: str, arguments: argparse.Namespace, configs: dict[str, str]) -> Any:
    confluent_kafka()
    from confluent_kafka.admin import NewTopic

    return NewTopic(name, arguments.partitions, arguments.replicas, config=configs)


def create(
    name: str,
    connection: ClusterConnection,
    future: Any,
    verb: str,
    arguments: argparse.Namespace,
    configs: list[str],
) -> Outcome:
    exists = confluent_kafka().KafkaError.TOPIC_ALREADY_EXISTS

    def work() -> str:
        try:
            connection.wait(future)
        except confluent_kafka().KafkaException as error:
            if error.args[0].code() == exists and arguments.if_not_exists:
                return f"{name} already exists"
            raise
        return f"{verb} {name}"

    def advice(error: Any) -> list[str]:
        if error.code() == exists:
            return ["use --if-not-exists to accept that"]
        if error.code() == confluent_kafka().KafkaError.INVALID_REPLICATION_FACTOR:
            return ["ask for fewer with --replicas N, or leave it out; see: ottla status"]
        return advice_about_configs(error, configs)

    return attempt(name, work, advice)
