"""The settings of a group and of a client-metrics subscription, under Kafka's names.

A topic's are in `topic_options.py`, a broker's in `broker_options.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from ottla.config.checks import anything, at_least, no_blanks
from ottla.config.kinds import INT, LIST
from ottla.config.options import (
    HOUR_MS,
    MINUTE_MS,
    SECOND_MS,
    InvalidOption,
    option,
    options_of,
)
from ottla.config.topic_options import TopicConfig

METRICS_INTERVAL_MIN_MS = 100
METRICS_INTERVAL_MAX_MS = 1 * HOUR_MS
CLIENT_PROPERTIES = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)


@dataclass(frozen=True, slots=True)
class GroupConfig:
    consumer_session_timeout_ms: int = option(
        "consumer.session.timeout.ms",
        45 * SECOND_MS,
        INT,
        at_least(1),
        "Silence after which a member of the consumer group is removed.",
    )
    consumer_heartbeat_interval_ms: int = option(
        "consumer.heartbeat.interval.ms",
        5 * SECOND_MS,
        INT,
        at_least(1),
        "How often members of the consumer group are told to send heartbeats.",
    )
    consumer_assignment_interval_ms: int = option(
        "consumer.assignment.interval.ms",
        1 * SECOND_MS,
        INT,
        at_least(0),
        "Least time between two new assignments of the consumer group.",
    )


@dataclass(frozen=True, slots=True)
class ClientMetricsConfig:
    metrics: tuple[str, ...] = option(
        "metrics",
        (),
        LIST,
        no_blanks,
        "Prefixes of the names of metrics that clients should push; `*` is all of them.",
    )
    interval_ms: int = option(
        "interval.ms", 5 * MINUTE_MS, INT, anything, "How often clients should push."
    )
    match: tuple[str, ...] = option(
        "match",
        (),
        LIST,
        no_blanks,
        "Which clients should push: `property=pattern` for some of "
        f"{', '.join(CLIENT_PROPERTIES)}. Without any, all of them.",
    )


TOPIC_OPTIONS = MappingProxyType(options_of(TopicConfig))
GROUP_OPTIONS = MappingProxyType(options_of(GroupConfig))
CLIENT_METRICS_OPTIONS = MappingProxyType(options_of(ClientMetricsConfig))


def check_match(patterns: tuple[str, ...]) -> None:
    """InvalidOption for a pattern that names no property of a client, or is no pattern."""
    for text in patterns:
        name, _, pattern = text.partition("=")
        is_pair = bool(pattern) and "=" not in pattern
        if not is_pair or name.strip() not in CLIENT_PROPERTIES or not _is_pattern(pattern.strip()):
            raise InvalidOption(f"Illegal client matching pattern: {text}")


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True
