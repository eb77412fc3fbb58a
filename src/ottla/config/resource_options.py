"""The settings of groups and client-metrics subscriptions, under Kafka's names.

Those of topics are in `topic_options.py`, those of brokers in `broker_options.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

from ottla.base.patterns import Pattern, PatternError, check_costs, compile_pattern, shortened
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
PROPERTY_CHARACTERS_MAX = 255  # longer values are truncated before matching


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
        "Heartbeat interval of the members of the consumer group.",
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


def parse_match(texts: Iterable[str]) -> dict[str, Pattern]:
    """The pattern for each client property; the last one if a property occurs twice.

    InvalidOption if a text names no property, is not a pattern, or all of them together are too
    large.
    """
    pairs = [_split_match(text) for text in texts]
    try:
        check_costs(pattern for _, pattern in pairs)
    except PatternError as error:
        raise InvalidOption(f"Illegal client matching patterns: {error}") from None
    return {name: _compile_match(name, pattern) for name, pattern in dict(pairs).items()}


def _split_match(text: str) -> tuple[str, str]:
    name, _, pattern = text.partition("=")
    if name.strip() not in CLIENT_PROPERTIES or not pattern or "=" in pattern:
        raise InvalidOption(f"Illegal client matching pattern: {shortened(text)}")
    return name.strip(), pattern.strip()


def _compile_match(name: str, pattern: str) -> Pattern:
    try:
        compiled = compile_pattern(pattern)
        compiled.check_text_bytes(4 * PROPERTY_CHARACTERS_MAX)
        return compiled
    except PatternError as error:
        what = f"Illegal client matching pattern: {name}={shortened(pattern)}"
        # Of a pattern that Java rejects too, the response contains only Kafka's message.
        raise InvalidOption(what if error.is_unbalanced else f"{what}: {error}") from None
