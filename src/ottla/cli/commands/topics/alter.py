"""`ottla topics alter`: change configs of topics, or add partitions."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.cluster.connection import Connection, add_connection_arguments, confluent_kafka
from ottla.cli.cluster.topic_configs import EXAMPLE, advice_about_configs
from ottla.cli.cluster.topics import all_topics, require_topics
from ottla.cli.errors import CommandFailed
from ottla.cli.output.documents import add_format_argument
from ottla.cli.output.outcomes import Outcome, attempt, report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topics", nargs="+", metavar="TOPIC")
    parser.add_argument(
        "-c", "--config", action="append", default=[], metavar="NAME=VALUE",
        help="set a topic setting; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "-d", "--delete-config", action="append", default=[], metavar="NAME",
        help="remove a topic setting, so that the default applies; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "-p", "--partitions", type=int, metavar="N",
        help="new number of partitions; it can only grow",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="check whether it would succeed, change nothing"
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    configs = parse_name_values("-c", arguments.config, EXAMPLE)
    names = [*configs, *arguments.delete_config]
    if not names and arguments.partitions is None:
        raise CommandFailed("nothing to change: give -c, -d or -p", code=2)
    connection = Connection.of(arguments)
    admin = connection.admin()
    topics = list(dict.fromkeys(arguments.topics))
    require_topics(topics, all_topics(connection, admin))
    outcomes: list[Outcome] = []
    if arguments.partitions is not None:
        outcomes += add_partitions(connection, admin, topics, arguments)
    if names:
        outcomes += change_configs(connection, admin, topics, configs, arguments)
    return report("ottla topics alter", "topic", arguments.format, outcomes)


def add_partitions(
    connection: Connection, admin: Any, topics: list[str], arguments: argparse.Namespace
) -> list[Outcome]:
    from confluent_kafka.admin import NewPartitions

    count = arguments.partitions
    futures = admin.create_partitions(
        [NewPartitions(name, count) for name in topics],
        operation_timeout=connection.timeout_s,
        request_timeout=connection.timeout_s,
        validate_only=arguments.dry_run,
    )
    verb = "would have" if arguments.dry_run else "has"

    def outcome(name: str, future: Any) -> Outcome:
        def work() -> str:
            connection.wait(future)
            return f"{name} {verb} {count} partitions"

        return attempt(name, work)

    return [outcome(name, future) for name, future in futures.items()]


def change_configs(
    connection: Connection,
    admin: Any,
    topics: list[str],
    configs: dict[str, str],
    arguments: argparse.Namespace,
) -> list[Outcome]:
    futures = admin.incremental_alter_configs(
        [resource(name, configs, arguments.delete_config) for name in topics],
        request_timeout=connection.timeout_s,
        validate_only=arguments.dry_run,
    )
    names = [*configs, *arguments.delete_config]
    verb = "would change" if arguments.dry_run else "changed"

    def outcome(name: str, future: Any) -> Outcome:
        def work() -> str:
            connection.wait(future)
            return f"{verb} {', '.join(names)} of {name}"

        return attempt(name, work, lambda error: advice_about_configs(error, names))

    return [outcome(each.name, future) for each, future in futures.items()]


def resource(topic: str, configs: dict[str, str], deleted: list[str]) -> Any:
    confluent_kafka()
    from confluent_kafka.admin import (
        AlterConfigOpType,
        ConfigEntry,
        ConfigResource,
        ResourceType,
    )

    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in configs.items()
    ]
    entries += [
        ConfigEntry(name, None, incremental_operation=AlterConfigOpType.DELETE) for name in deleted
    ]
    return ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
