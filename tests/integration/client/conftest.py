"""The kinds of brokers, and of clusters, that the client is tried against, shared by all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.client.three_brokers import ThreeBrokers, three_of_apache_kafka
from tests.support.apache_kafka import ApacheKafka

from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.testing.broker import RunningBroker

APACHE_KAFKA = pytest.param(
    "apache-kafka", marks=[pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]
)
PATIENCE_MS = 120_000


@pytest.fixture(scope="session")
def our_broker() -> Iterator[RunningBroker]:
    config = {"group.initial.rebalance.delay.ms": "0", "log.cleaner.backoff.ms": "100"}
    with RunningBroker(config=config) as broker:
        yield broker


@pytest.fixture(params=["ottla", APACHE_KAFKA])
def address(request: pytest.FixtureRequest) -> str:
    """Of a running broker: ours, or Apache Kafka's."""
    if request.param == "ottla":
        ours: RunningBroker = request.getfixturevalue("our_broker")
        return ours.bootstrap_servers
    theirs: ApacheKafka = request.getfixturevalue("apache_kafka")
    return theirs.bootstrap


@pytest.fixture
def cluster(address: str) -> Iterator[Cluster]:
    settings = ClientSettings(address, default_api_timeout_ms=PATIENCE_MS)
    with Cluster(settings) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def three_apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeBrokers]:
    with three_of_apache_kafka(tmp_path_factory.mktemp("three")) as brokers:
        yield brokers


THREE_APACHE_KAFKA = pytest.param(
    "apache-kafka", marks=[pytest.mark.java, pytest.mark.xdist_group("three-apache-kafka")]
)
THREE_OTTLA = pytest.param("ottla", marks=pytest.mark.xdist_group("three-brokers"))


@pytest.fixture(params=[THREE_OTTLA, THREE_APACHE_KAFKA])
def three(request: pytest.FixtureRequest) -> Iterator[ThreeBrokers]:
    """Three brokers, all of which run when a test begins. Three Apache Kafkas take a minute of two
    cores to start: they are in the long run."""
    name = "three_ottla" if request.param == "ottla" else "three_apache_kafka"
    brokers: ThreeBrokers = request.getfixturevalue(name)
    brokers.start_all()
    yield brokers
    brokers.start_all()
