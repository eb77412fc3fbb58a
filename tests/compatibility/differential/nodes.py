"""The two brokers that are compared, with equal settings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.apache_kafka import PROPERTIES, ApacheKafka

from ottla.testing.broker import RunningBroker

# Small enough that scripts can reach them.
LIMITS = {
    "group.min.session.timeout.ms": "100",
    "group.max.session.timeout.ms": "60000",
    "group.max.size": "3",
    "group.consumer.assignment.interval.ms": "0",
    "auto.create.topics.enable": "true",
    "log.retention.ms": "-1",  # scripts write records of long ago
}
# Settings that have no meaning here, or that we express by another setting.
ONLY_KAFKAS = {"process.roles", "controller.listener.names"}


@contextmanager
def kafka_node(more: Mapping[str, str] | None = None) -> Iterator[ApacheKafka]:
    with (
        tempfile.TemporaryDirectory(prefix="kafka-", ignore_cleanup_errors=True) as folder,
        ApacheKafka(Path(folder), {**LIMITS, **(more or {})}) as node,
    ):
        yield node


def our_properties() -> dict[str, str]:
    reported = {**PROPERTIES, **LIMITS}
    return {name: value for name, value in reported.items() if name not in ONLY_KAFKAS}


@contextmanager
def our_broker(more: Mapping[str, str] | None = None) -> Iterator[RunningBroker]:
    with RunningBroker(config={**our_properties(), **(more or {})}) as broker:
        yield broker
