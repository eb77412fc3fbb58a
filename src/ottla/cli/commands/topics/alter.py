"""`ottla topics alter`: change settings of topics, or add partitions."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.arguments.numbers import PARTITIONS_MAX, whole_number
from ottla.cli.cluster.connection import (
    ClusterConnection,
    add_connection_arguments,
    confluent_kafka,
)
from ottla.cli.cluster.topic_configs import (
    EXAMPLE,
    advice_about_configs,
    is_set_on_topic,
    topic_configs,
)
from ottla.cli.cluster.topics import (
    INTERNAL,
    add_topics_argument,
    all_topics,
    given_names,
    require_topics,
)
from ottla.cli.errors import USAGE, CommandFailed, suggestions
from ottla.cli.output.documents import add_format_argument
from ottla.cli.output.outcomes import Outcome, attempt, report
from ottla.cli.process import print_error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_topics_argument(parser)
    add("-c", "--config", action="append", default=[], metavar="NAME=VALUE",
        help="set a topic setting; may be repeated")  # fmt: skip
    add("-d", "--delete-config", action="append", default=[], metavar="NAME",
        help="remove a topic setting, so that the default applies; may be repeated")  # fmt: skip
    add("-p", "--partitions", type=whole_number(1, PARTITIONS_MAX), metavar="N",
        help="new number of partitions; it can only grow")  # fmt: skip
    add("--dry-run", action="store_true", help="check whether it would succeed, change nothing")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    configs = parse_name_values("-c", arguments.config, EXAMPLE)
    if not configs and not arguments.delete_config and arguments.partitions is None:
        raise CommandFailed("nothing to change: give -c, -d or -p", code=USAGE)
    both = sorted(configs.keys() & set(arguments.delete_config))
    if both:
        raise CommandFailed(f"-c and -d are both given for {', '.join(both)}", code=USAGE)
    topics = given_names(arguments)
    refuse_internal(topics, arguments.partitions)
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    require_topics(topics, all_topics(connection, admin))
    deleted = deleted_configs(connection, admin, topics, arguments.delete_config)
    outcomes: list[Outcome] = []
    if arguments.partitions is not None and (configs or arguments.delete_config):
        # What is refused must not leave the other half of the change.
        dry_run = argparse.Namespace(**{**vars(arguments), "dry_run": True})
        checked = add_partitions(connection, admin, topics, dry_run)
        checked += change_configs(connection, admin, configs, deleted, dry_run)
        if failed := [each for each in checked if each.error]:
            return report("ottla topics alter", "topic", arguments.format, failed)
    if arguments.partitions is not None:
        outcomes += add_partitions(connection, admin, topics, arguments)
        if not all(each.error for each in outcomes):
            print_error("ottla topics alter: some keys go to other partitions than before")
    if configs or arguments.delete_config:
        outcomes += change_configs(connection, admin, configs, deleted, arguments)
    return report("ottla topics alter", "topic", arguments.format, outcomes)


def refuse_internal(topics: list[str], partitions: int | None) -> None:
    internal = [name for name in topics if name in INTERNAL]
    if internal and partitions is not None:
        raise CommandFailed(
            f"{', '.join(internal)} is internal: with another number of partitions, the offsets of "
            "groups or the state of transactions would no longer be found",
            code=USAGE,
        )


def deleted_configs(
    connection: ClusterConnection, admin: Any, topics: list[str], names: list[str]
) -> dict[str, dict[str, bool]]:
    """For each topic the settings to delete, and whether it has them.

    Brokers accept to delete what does not exist, so an unknown name is refused here.
    """
    if not names:
        return {topic: {} for topic in topics}
    described = topic_configs(connection, admin, topics)
    for name in names:
        for known in described.values():
            if name not in known:
                raise CommandFailed(f"-d {name}: no such topic setting", *suggestions(name, known))
    return {
        topic: {name: is_set_on_topic(entries[name]) for name in names}
        for topic, entries in described.items()
    }


def add_partitions(
    connection: ClusterConnection, admin: Any, topics: list[str], arguments: argparse.Namespace
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
    connection: ClusterConnection,
    admin: Any,
    configs: dict[str, str],
    deleted: dict[str, dict[str, bool]],
    arguments: argparse.Namespace,
) -> list[Outcome]:
    futures = admin.incremental_alter_configs(
        [resource(topic, configs, list(names)) for topic, names in deleted.items()],
        request_timeout=connection.timeout_s,
        validate_only=arguments.dry_run,
    )
    verb = "would change" if arguments.dry_run else "changed"

    def outcome(topic: str, future: Any) -> Outcome:
        def work() -> str:
            connection.wait(future)
            changed = [*configs, *(name for name, was_set in deleted[topic].items() if was_set)]
            unset = [name for name, was_set in deleted[topic].items() if not was_set]
            parts = [f"{verb} {', '.join(changed)} of {topic}"] if changed else []
            parts += [f"{', '.join(unset)} was not set on {topic}"] if unset else []
            return "; ".join(parts)

        return attempt(topic, work, lambda error: advice_about_configs(error, list(configs)))

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
