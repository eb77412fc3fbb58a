"""A running Ottla and a running Apache Kafka, by the same name, and topics of a test's own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.testing.broker import RunningBroker

KAFKA = pytest.param("kafka", marks=pytest.mark.java)
CONFIG = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}
_numbers = itertools.count()


@pytest.fixture(scope="module")
def ottla() -> Iterator[RunningBroker]:
    with RunningBroker(config=CONFIG) as broker:
        yield broker


@pytest.fixture(params=["ottla", KAFKA])
def servers(request: pytest.FixtureRequest) -> str:
    """Where a cluster can be reached: the test runs against both."""
    if request.param == "ottla":
        broker: RunningBroker = request.getfixturevalue("ottla")
        return broker.bootstrap_servers
    bootstrap: str = request.getfixturevalue("apache_kafka").bootstrap
    return bootstrap


@pytest.fixture
def settings(servers: str) -> ClientSettings:
    return ClientSettings(servers, default_api_timeout_ms=120_000)


@pytest.fixture
def cluster(settings: ClientSettings) -> Iterator[Cluster]:
    with Cluster(settings) as cluster:
        yield cluster


@pytest.fixture
def new_topic(cluster: Cluster) -> Callable[..., str]:
    def create(partitions: int = 3, **configs: str) -> str:
        name = f"sink-test-{next(_numbers)}"
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        create_topics(cluster, [NewTopic(name, partitions, configs=dotted)])
        return name

    return create
