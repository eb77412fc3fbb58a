"""A broker and topics of their own for the tests of the audit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.testing.broker import RunningBroker

PATIENCE_MS = 120_000


@pytest.fixture(scope="module")
def temporary_broker() -> Iterator[RunningBroker]:
    with RunningBroker() as broker:
        yield broker


@pytest.fixture
def cluster(temporary_broker: RunningBroker) -> Iterator[Cluster]:
    settings = ClientSettings(
        temporary_broker.bootstrap_servers, default_api_timeout_ms=PATIENCE_MS
    )
    with Cluster(settings) as cluster:
        yield cluster
