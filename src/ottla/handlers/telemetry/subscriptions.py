"""Which metrics are wanted from which client: the settings of kind "client metrics".

A subscription names prefixes of metrics, how often they are to be pushed, and patterns that a
client's properties must match. A client is asked for the union of all subscriptions it matches, as
often as the most eager of them wants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import crc32c

from ottla.base.uuids import uuid_to_text
from ottla.config.options import stored_values
from ottla.config.resource_options import CLIENT_METRICS_OPTIONS, check_match
from ottla.handlers.context import Context

ALL_METRICS = "*"
INTERVAL_MS_DEFAULT = 5 * 60 * 1000
PROPERTY_CHARACTERS_MAX = 255


class Subscription(NamedTuple):
    metrics: tuple[str, ...]
    interval_ms: int
    patterns: tuple[tuple[str, re.Pattern[str]], ...]

    def matches(self, properties: Mapping[str, str]) -> bool:
        return all(pattern.fullmatch(properties[name]) for name, pattern in self.patterns)


class Wish(NamedTuple):
    """What one client is asked for. Its id changes with it."""

    id: int
    metrics: tuple[str, ...]
    interval_ms: int


def subscription_of(settings: Mapping[str, str]) -> Subscription:
    """Checked when they were made, perhaps by an older build: InvalidOption if unusable now."""
    values = stored_values(CLIENT_METRICS_OPTIONS, settings)
    check_match(values.get("match", ()))
    patterns = []
    for text in values.get("match", ()):
        name, _, pattern = text.partition("=")
        patterns.append((name.strip(), re.compile(pattern.strip())))
    interval_ms = values.get("interval.ms", INTERVAL_MS_DEFAULT)
    return Subscription(values.get("metrics", ()), interval_ms, tuple(patterns))


def client_properties(context: Context, instance_id: bytes) -> dict[str, str]:
    """What patterns are held against; of a name that is too long, its beginning."""
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


def wish_for(
    instance_id: bytes, properties: Mapping[str, str], subscriptions: Iterable[Subscription]
) -> Wish:
    matching = [each for each in subscriptions if each.matches(properties)]
    metrics = tuple(sorted({name for each in matching for name in each.metrics}))
    if ALL_METRICS in metrics:
        metrics = (ALL_METRICS,)
    interval_ms = min([INTERVAL_MS_DEFAULT, *(each.interval_ms for each in matching)])
    return Wish(wish_id(instance_id, metrics, interval_ms), metrics, interval_ms)


def wish_id(instance_id: bytes, metrics: tuple[str, ...], interval_ms: int) -> int:
    checksum = crc32c.crc32c(f"{interval_ms},{','.join(metrics)}".encode())
    number = checksum ^ int.from_bytes(instance_id[:4], "big")
    return number - (1 << 32) if number >= 1 << 31 else number
