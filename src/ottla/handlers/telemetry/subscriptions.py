"""Subscriptions to client metrics: the settings of kind "client metrics".

A subscription has prefixes of metrics, a push interval, and patterns that a client's properties
must match. A client gets the union of all subscriptions it matches, with the shortest interval. If
that has very many names, the client pushes all metrics.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ottla.base.checksums import crc32c
from ottla.base.log_messages.log_text import shown
from ottla.base.patterns import Pattern
from ottla.base.scheduling.steps import Steps
from ottla.base.uuids import uuid_to_text
from ottla.config.options import InvalidOption, stored_values
from ottla.config.resource_options import (
    CLIENT_METRICS_OPTIONS,
    PROPERTY_CHARACTERS_MAX,
    parse_match,
)
from ottla.handlers.serving.context import Context

log = logging.getLogger(__name__)

ALL_METRICS = "*"
INTERVAL_MS_DEFAULT = 5 * 60 * 1000
METRICS_MAX = 500  # by name, for one client: they are kept for each client


class Subscription:
    """One subscription. Its patterns are compiled for the first client, so that many stored
    subscriptions do not delay a start."""

    __slots__ = ("_patterns", "_texts", "interval_ms", "is_usable", "metrics", "name")

    def __init__(self, name: str, settings: Mapping[str, str]) -> None:
        values = stored_values(CLIENT_METRICS_OPTIONS, settings)
        self.name = name
        self.metrics: tuple[str, ...] = values.get("metrics", ())
        self.interval_ms: int = values.get("interval.ms", INTERVAL_MS_DEFAULT)
        self._texts: tuple[str, ...] = values.get("match", ())
        self._patterns: Mapping[str, Pattern] | None = None
        self.is_usable = True  # until a pattern fails to compile

    def matches(self, properties: Mapping[str, str]) -> bool:
        if self._patterns is None:
            self._patterns = self._compile()
        return self.is_usable and all(
            each.matches(properties[name]) for name, each in self._patterns.items()
        )

    def _compile(self) -> Mapping[str, Pattern]:
        """Patterns were validated when they were stored, possibly by an older release."""
        try:
            return parse_match(self._texts)
        except InvalidOption as error:
            log.warning("client metrics %s applies to no client: %s", shown(self.name), error)
            self.is_usable = False
            return {}


class ClientSubscription(NamedTuple):
    """The metrics that one client should push. The id depends on the content."""

    id: int
    metrics: tuple[str, ...]
    interval_ms: int


def client_properties(context: Context, instance_id: bytes) -> dict[str, str]:
    """The values that patterns are matched with; long ones are truncated."""
    peer = context.peer
    properties = {
        "client_instance_id": uuid_to_text(instance_id),
        "client_id": context.client_id or "",
        "client_software_name": peer.software_name,
        "client_software_version": peer.software_version,
        "client_source_address": peer.host,
        "client_source_port": str(peer.port),
    }
    return {name: text[:PROPERTY_CHARACTERS_MAX] for name, text in properties.items()}


def client_subscription(
    instance_id: bytes, properties: Mapping[str, str], subscriptions: Iterable[Subscription]
) -> Steps[ClientSubscription]:
    """In slices: there may be many subscriptions, and a match can take some milliseconds."""
    names: set[str] = set()
    interval_ms = INTERVAL_MS_DEFAULT
    for each in list(subscriptions):
        if each.matches(properties):
            names.update(each.metrics)
            interval_ms = min(interval_ms, each.interval_ms)
        if len(names) > METRICS_MAX:
            names = {ALL_METRICS}
        yield 0
    metrics = (ALL_METRICS,) if ALL_METRICS in names else tuple(sorted(names))
    return ClientSubscription(
        subscription_id(instance_id, metrics, interval_ms), metrics, interval_ms
    )


def subscription_id(instance_id: bytes, metrics: tuple[str, ...], interval_ms: int) -> int:
    checksum = crc32c(f"{interval_ms},{','.join(metrics)}".encode())
    number = checksum ^ int.from_bytes(instance_id[:4], "big")
    return number - (1 << 32) if number >= 1 << 31 else number
