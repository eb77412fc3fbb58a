"""A broker of ours that the tests of this folder share, and everybody else's clients.

Tests keep out of each other's way by the names of their topics. One that stops or kills a broker
makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.compatibility.clients.foreign.aio_kafka import AioKafka
from tests.compatibility.clients.foreign.client import ForeignClient
from tests.compatibility.clients.foreign.java import Java
from tests.compatibility.clients.foreign.kafka_python import KafkaPython
from tests.compatibility.clients.foreign.librdkafka import Librdkafka
from tests.support.java_clients import JavaClients
from tests.support.oracle import Oracle

from ottla.testing.broker import RunningBroker

ClientOf = Callable[[str, str], ForeignClient]


@pytest.fixture(scope="session")
def broker() -> Iterator[RunningBroker]:
    """Shared, and never stopped by a test. At the end it must not have met a bug."""
    with RunningBroker() as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


@pytest.fixture(scope="session")
def client_of(request: pytest.FixtureRequest) -> ClientOf:
    """The client by this name, for the broker at this address."""

    def make(name: str, bootstrap: str) -> ForeignClient:
        match name:
            case "confluent-kafka":
                return Librdkafka(bootstrap)
            case "kafka-python":
                return KafkaPython(bootstrap)
            case "aiokafka":
                return AioKafka(bootstrap)
        oracle: Oracle = request.getfixturevalue("oracle")
        return Java(JavaClients(oracle, bootstrap))

    return make


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    return "".join(each if each.isalnum() else "-" for each in request.node.name)[:200].lower()
