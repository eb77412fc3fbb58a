"""A broker of ours that the tests of this folder share, and clients of other projects.

Tests keep out of each other's way by the names of their topics. One that stops or kills a broker
makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from tests.compatibility.clients.clients import (
    AIOKAFKA,
    FEW_SHARDS,
    JAVA,
    KAFKA_PYTHON,
    KEEPING,
    LIBRDKAFKA,
)
from tests.compatibility.clients.foreign.aio_kafka import AioKafka
from tests.compatibility.clients.foreign.client import ForeignClient
from tests.compatibility.clients.foreign.java import Java
from tests.compatibility.clients.foreign.kafka_python import KafkaPython
from tests.compatibility.clients.foreign.librdkafka import Librdkafka
from tests.compatibility.clients.group_readers import Reader
from tests.compatibility.clients.reading_groups import Group
from tests.support.apache_kafka import ApacheKafka
from tests.support.java_clients import JavaClients
from tests.support.oracle import Oracle, OracleOf

from ottla.testing.broker import RunningBroker

APACHE_KAFKA = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]
ClientOf = Callable[[str, str], ForeignClient]
PYTHONS: Mapping[str, Callable[[str], ForeignClient]] = {
    LIBRDKAFKA: Librdkafka,
    KAFKA_PYTHON: KafkaPython,
    AIOKAFKA: AioKafka,
}


@pytest.fixture(scope="session")
def broker() -> Iterator[RunningBroker]:
    """Shared, and never stopped by a test. At the end it must not have met a bug."""
    with RunningBroker(config=KEEPING) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


@pytest.fixture(scope="module")
def temporary_broker() -> Iterator[RunningBroker]:
    """Of the tests of one file."""
    with RunningBroker(config=FEW_SHARDS) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


@pytest.fixture(params=["ottla", pytest.param("apache-kafka", marks=APACHE_KAFKA)])
def either_bootstrap(request: pytest.FixtureRequest) -> str:
    """Where that broker is, and where Apache Kafka is: the test runs on both."""
    if request.param == "ottla":
        own: RunningBroker = request.getfixturevalue("temporary_broker")
        return own.bootstrap_servers
    kafka: ApacheKafka = request.getfixturevalue("apache_kafka")
    return kafka.bootstrap


@pytest.fixture(scope="session")
def oracle_of(request: pytest.FixtureRequest) -> OracleOf:
    """The JVM with this release of Kafka's clients, by its name among the clients."""

    def find(name: str) -> Oracle:
        oracle: Oracle = request.getfixturevalue("oracle" if name == JAVA else "older_oracle")
        return oracle

    return find


@pytest.fixture(scope="session")
def client_of(oracle_of: OracleOf) -> ClientOf:
    """The client by this name, for the broker at this address."""

    def make(name: str, bootstrap: str) -> ForeignClient:
        if name in PYTHONS:
            return PYTHONS[name](bootstrap)
        return Java(JavaClients(oracle_of(name), bootstrap))

    return make


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    return "".join(each if each.isalnum() else "-" for each in request.node.name)[:200].lower()


# Groups


@pytest.fixture(scope="module")
def group_broker() -> Iterator[RunningBroker]:
    """Its groups come to rest soon."""
    settings = {
        "group.consumer.heartbeat.interval.ms": "500",
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.assignment.interval.ms": "100",
    }
    with RunningBroker(config=settings) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


@pytest.fixture
def readers() -> Iterator[list[Reader]]:
    """Readers of the test, ended with it."""
    found: list[Reader] = []
    yield found
    for reader in found:
        reader.leave()


@pytest.fixture
def group(
    group_broker: RunningBroker, topic: str, readers: list[Reader], oracle_of: OracleOf
) -> Group:
    return Group(group_broker.bootstrap_servers, topic, readers, oracle_of)
