"""Settings of topics on the command line: `-c retention.ms=60000`."""

from __future__ import annotations

from typing import Any

from ottla.cli.connection import confluent_kafka
from ottla.cli.problems import CommandFailed, hint


def parse_settings(given: list[str]) -> dict[str, str]:
    settings = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise CommandFailed(
                f"-c {each}: expected NAME=VALUE, such as retention.ms=60000", code=2
            )
        settings[name] = value
    return settings


def advice_about_settings(error: Any, names: list[str]) -> list[str]:
    """The names that were meant, where the cluster does not know those that were given."""
    if error.code() not in (
        confluent_kafka().KafkaError.INVALID_CONFIG,
        confluent_kafka().KafkaError.INVALID_REQUEST,
    ):
        return []
    from ottla.config.resource_options import TOPIC_OPTIONS

    return [
        line for name in names if name not in TOPIC_OPTIONS for line in hint(name, TOPIC_OPTIONS)
    ]
