from __future__ import annotations

from collections.abc import Iterator

import pytest

from ottla.testing.cluster import RunningCluster

SESSION_MS = 4000


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    """Three brokers, for the tests of one module. Each leaves all of them running."""
    config = {"zookeeper.session.timeout.ms": SESSION_MS, "auto.create.topics.enable": False}
    with RunningCluster(config=config) as running:
        yield running
