"""What tests with Spark share: one session (the plugin's), and cases that run on two brokers.

A session takes seconds for what a reader does in milliseconds, so cases that need one run against
Ottla only, unless OTTLA_SPARK=all asks for Apache Kafka as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.integration.client.three_brokers import ThreeBrokers

from ottla.testing import Kafka

OTTLA, APACHE_KAFKA = "ottla", "apache-kafka"


@pytest.fixture(scope="session")
def ottla_servers(kafka_broker: object) -> str:
    return str(getattr(kafka_broker, "bootstrap_servers"))  # noqa: B009 (two kinds of brokers)


@pytest.fixture(scope="session")
def three(three_ottla: ThreeBrokers) -> ThreeBrokers:
    """A cluster of three brokers; each test leaves all of them running."""
    return three_ottla


IS_LONG_RUN = os.environ.get("OTTLA_SPARK") == "all"
LONG = pytest.mark.skipif(not IS_LONG_RUN, reason="in the long run: OTTLA_SPARK=all")


@pytest.fixture(
    params=[pytest.param(OTTLA), pytest.param(APACHE_KAFKA, marks=pytest.mark.java)],
)
def either_kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    """Ottla, then Apache Kafka: the source must work equally with both."""
    yield from _kafka(request)


@pytest.fixture(
    params=[pytest.param(OTTLA), pytest.param(APACHE_KAFKA, marks=[pytest.mark.java, LONG])],
)
def each_kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    """The same for cases with a Spark session: the second one in the long run only."""
    yield from _kafka(request)


def _kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    if request.param == OTTLA:
        servers = request.getfixturevalue("ottla_servers")
    else:
        servers = request.getfixturevalue("apache_kafka").bootstrap
    kafka = Kafka(servers)
    yield kafka
    kafka.close()
