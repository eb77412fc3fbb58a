"""`ottla topics alter`: change a topic's settings, or give it more partitions."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.connection import Connection, add_connection_arguments, confluent_kafka
from ottla.cli.outcomes import Outcome, attempt, report
from ottla.cli.output import add_format_argument
from ottla.cli.problems import CommandFailed
from ottla.cli.topics.known import known_topics, require_topics
from ottla.cli.topics.settings import advice_about_settings, parse_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topics", nargs="+", metavar="TOPIC")
    parser.add_argument(
        "-c", "--config", action="append", default=[], metavar="NAME=VALUE",
        help="set a setting",
    )  # fmt: skip
    parser.add_argument(
        "-d", "--delete-config", action="append", default=[], metavar="NAME",
        help="let a setting have its default again",
    )  # fmt: skip
    parser.add_argument(
        "-p", "--partitions", type=int, metavar="N",
        help="how many partitions there shall be: more than now",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only check whether it would work")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    settings = parse_settings(arguments.config)
    names = [*settings, *arguments.delete_config]
    if not names and arguments.partitions is None:
        raise CommandFailed("nothing to change: give -c, -d or -p", code=2)
    connection = Connection.of(arguments)
    admin = connection.admin()
    topics = list(dict.fromkeys(arguments.topics))
    require_topics(topics, known_topics(connection, admin))
    outcomes: list[Outcome] = []
    if arguments.partitions is not None:
        outcomes += add_partitions(connection, admin, topics, arguments)
    if names:
        outcomes += change_settings(connection, admin, topics, settings, arguments)
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
    verb = "could have" if arguments.dry_run else "has"

    def outcome(name: str, future: Any) -> Outcome:
        def work() -> str:
            connection.wait(future)
            return f"{name} {verb} {count} partitions"

        return attempt(name, work)

    return [outcome(name, future) for name, future in futures.items()]


def change_settings(
    connection: Connection,
    admin: Any,
    topics: list[str],
    settings: dict[str, str],
    arguments: argparse.Namespace,
) -> list[Outcome]:
    futures = admin.incremental_alter_configs(
        [resource(name, settings, arguments.delete_config) for name in topics],
        request_timeout=connection.timeout_s,
        validate_only=arguments.dry_run,
    )
    names = [*settings, *arguments.delete_config]
    verb = "could change" if arguments.dry_run else "changed"

    def outcome(name: str, future: Any) -> Outcome:
        def work() -> str:
            connection.wait(future)
            return f"{verb} {', '.join(names)} of {name}"

        return attempt(name, work, lambda error: advice_about_settings(error, names))

    return [outcome(each.name, future) for each, future in futures.items()]


def resource(topic: str, settings: dict[str, str], deleted: list[str]) -> Any:
    confluent_kafka()
    from confluent_kafka.admin import (
        AlterConfigOpType,
        ConfigEntry,
        ConfigResource,
        ResourceType,
    )

    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in settings.items()
    ]
    entries += [
        ConfigEntry(name, None, incremental_operation=AlterConfigOpType.DELETE) for name in deleted
    ]
    return ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
