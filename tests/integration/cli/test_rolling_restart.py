"""`ottla cluster restart`: all brokers one after the other, under load, and when it refuses."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.cli.cluster_command import ClusterCommand
from tests.integration.cluster.traffic import QUIET, traffic
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("rolling-restart")]
TOPIC = "t"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterCommand]:
    running = ClusterCommand(tmp_path_factory.mktemp("cluster"), "--port", "0")
    try:
        admin = AdminClient({**QUIET, "bootstrap.servers": running.bootstrap_servers})
        topic = NewTopic(TOPIC, 3, 3, config={"min.insync.replicas": "2"})
        admin.create_topics([topic])[TOPIC].result()
        wait_until(lambda: in_sync(running) == 9, "all replicas are in sync")
        yield running
    finally:
        running.end(signal.SIGTERM)


def in_sync(cluster: ClusterCommand) -> int:
    """The number of replicas of the topic that are in sync."""
    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    partitions = admin.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions
    return sum(len(each.isrs) for each in partitions.values() if each.leader >= 0)


def test_all_brokers_are_restarted_under_load_without_an_error(cluster: ClusterCommand) -> None:
    before = cluster.members
    with traffic(cluster.bootstrap_servers, TOPIC, "group"):
        done = cluster("restart")
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in sorted(done.stdout.splitlines())] == [
        "broker-1",
        "broker-2",
        "broker-3",
    ]
    after = cluster.members
    changed = {name for name in after if after[name]["pid"] != before[name]["pid"]}
    assert changed == {"broker-1", "broker-2", "broker-3"}
    assert in_sync(cluster) == 9


def test_a_broker_that_the_others_need_is_not_restarted(cluster: ClusterCommand) -> None:
    assert cluster("kill", "3").returncode == 0
    wait_until(lambda: in_sync(cluster) == 6, "broker 3 is out of sync")
    pid = cluster.members["broker-1"]["pid"]
    refused = cluster("restart", "1", "--wait", "0.1")
    assert refused.returncode == 1
    assert "too few replicas of t-0, t-1, t-2" in refused.stderr
    assert cluster.members["broker-1"]["pid"] == pid
    assert cluster("restart", "3").returncode == 0, "the one that is behind may be started"
    wait_until(lambda: in_sync(cluster) == 9, "all replicas are in sync")
    assert cluster("kill", "3").returncode == 0
    assert cluster("restart", "1", "--force").returncode == 0
    assert cluster.members["broker-1"]["pid"] != pid
    assert cluster("start", "3").returncode == 0
    wait_until(lambda: in_sync(cluster) == 9, "all replicas are in sync")
