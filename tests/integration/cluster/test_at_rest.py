"""A cluster in which nothing changes sends nothing to ZooKeeper but pings."""

from __future__ import annotations

from pathlib import Path

from tests.integration.cluster.conftest import SESSION_MS
from tests.integration.cluster.harness import create_topic
from tests.support.waiting import wait_until
from tests.support.zookeeper_tap import ZooKeeperTap

from ottla.testing.cluster import RunningCluster
from ottla.testing.zookeeper import ZooKeeperServer

PINGS = 6  # of the three sessions together


def test_a_cluster_at_rest_sends_only_pings(tmp_path: Path) -> None:
    server = ZooKeeperServer(tmp_path / "zookeeper").start()
    try:
        config = {"zookeeper.session.timeout.ms": SESSION_MS}
        with (
            ZooKeeperTap(server.address) as tap,
            RunningCluster(config=config, zookeeper=tap.address) as cluster,
        ):
            create_topic(cluster, "records", [1, 2, 3])
            await_pings(tap)  # the last requests because of the topic are over
            before = tap.others
            assert before, "the brokers do not use the tap"
            await_pings(tap)
            assert tap.others == before
    finally:
        server.kill()


def await_pings(tap: ZooKeeperTap) -> None:
    """Until some time without changes has passed."""
    wanted = tap.pings + PINGS
    wait_until(lambda: tap.pings >= wanted, f"{PINGS} pings")
