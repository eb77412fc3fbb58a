from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.testing.zookeeper import ZooKeeperServer


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    """One server for all tests, which use chroots of their own."""
    server = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")).start()
    yield server
    server.kill()


@pytest.fixture
def own_zookeeper(tmp_path: Path) -> Iterator[ZooKeeperServer]:
    """A server that the test may stop and start."""
    server = ZooKeeperServer(tmp_path / "zookeeper").start()
    yield server
    server.kill()
