"""What tests with Spark share: one session (the plugin's), and each case on both brokers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ottla.testing import Kafka

OTTLA, APACHE_KAFKA = "ottla", "apache-kafka"


@pytest.fixture(scope="session")
def ottla_servers(kafka_broker: object) -> str:
    return str(getattr(kafka_broker, "bootstrap_servers"))  # noqa: B009 (two kinds of brokers)


@pytest.fixture(
    params=[pytest.param(OTTLA), pytest.param(APACHE_KAFKA, marks=pytest.mark.java)],
)
def either_kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    """Ottla, then Apache Kafka: the source must not be able to tell."""
    if request.param == OTTLA:
        servers = request.getfixturevalue("ottla_servers")
    else:
        servers = request.getfixturevalue("apache_kafka").bootstrap
    kafka = Kafka(servers)
    yield kafka
    kafka.close()
