"""`ottla cluster decommission` against brokers under load; a cluster of four."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.cli.ottla_command import ottla, start
from tests.integration.cluster.harness import (
    BROKER,
    TOPIC,
    all_metadata,
    ask,
    is_led,
    metadata,
    running,
    settings_of,
)
from tests.integration.cluster.test_replication import Replicated
from tests.integration.cluster.traffic import QUIET
from tests.support.waiting import wait_until

from ottla.cli.decommission.cluster_state import plan, read
from ottla.cli.decommission.reassigning import begin
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci

PARTITIONS = 6
VALUE = bytes(500_000)  # several fetches for each partition: a throttle counts from the second
RECORDS = 36
LOW = 1000  # bytes a second: nothing ends before it is raised
LEAVING = 4


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    config = {
        "zookeeper.session.timeout.ms": 4000,
        "auto.create.topics.enable": False,
        "replication.quota.window.num": 2,
    }
    with RunningCluster(4, config=config) as running:
        yield running


def decommission(cluster: RunningCluster, *words: str) -> subprocess.CompletedProcess[str]:
    servers = cluster.brokers[1].bootstrap_servers
    return ottla("cluster", "decommission", *words, "--bootstrap", servers)


def create(cluster: RunningCluster, name: str, replicas: int = 2) -> None:
    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, replicas)])[name].result()
    for each in running(cluster):
        wait_until(lambda each=each: is_led(cluster, each, name), f"{name} is led")  # type: ignore[misc]


def fill(cluster: RunningCluster, name: str) -> None:
    producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    for number in range(RECORDS):
        producer.produce(name, VALUE, partition=number % PARTITIONS)
        producer.poll(0)
    assert producer.flush(120) == 0


def held(cluster: RunningCluster, broker_id: int) -> int:
    """Partitions with a replica there."""
    return sum(
        broker_id in each.replica_nodes
        for topic in all_metadata(cluster, 1).topics
        for each in topic.partitions
    )


def throttles(cluster: RunningCluster, topic: str) -> list[str]:
    found = [settings_of(cluster, 1, TOPIC, topic)]
    found += [settings_of(cluster, each, BROKER, str(each)) for each in running(cluster)]
    return [name for each in found for name in each if "throttled" in name]


def reassignments(cluster: RunningCluster) -> list[Any]:
    return list(ask(cluster, 1, ListPartitionReassignmentsRequest(30_000)).topics)


def test_mistakes_are_refused_and_change_nothing(cluster: RunningCluster) -> None:
    create(cluster, "everywhere", replicas=4)
    assert "no broker 9 in this cluster" in decommission(cluster, "9").stderr
    refused = decommission(cluster, "3")
    assert refused.returncode == 1
    assert "too few for everywhere (replication factor 4)" in refused.stderr
    assert decommission(cluster, "3", "--throttle", "0").returncode == 2
    assert reassignments(cluster) == []
    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_topics(["everywhere"])["everywhere"].result()
    wait_until(lambda: held(cluster, LEAVING) == 0, "deleted")


def test_moves_are_cancelled(cluster: RunningCluster) -> None:
    create(cluster, "cancelled")
    fill(cluster, "cancelled")
    before = held(cluster, LEAVING)
    planned = json.loads(decommission(cluster, "4", "--dry-run", "--format", "json").stdout)
    assert len(planned["moves"]) == before > 0
    assert reassignments(cluster) == []
    servers = cluster.brokers[1].bootstrap_servers
    words = ("--throttle", str(LOW), "--bootstrap", servers)
    process = start("cluster", "decommission", "4", *words)
    wait_until(lambda: bool(reassignments(cluster)), "moves have begun")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert throttles(cluster, "cancelled")
    check_that_a_plan_of_old_reassignments_is_refused(cluster)
    assert decommission(cluster, "4", "--cancel").returncode == 0
    assert held(cluster, LEAVING) == before
    assert reassignments(cluster) == []
    wait_until(lambda: not throttles(cluster, "cancelled"), "throttles are removed")


def check_that_a_plan_of_old_reassignments_is_refused(cluster: RunningCluster) -> None:
    """Without its reassignment, a partition that moves seems to have all its replicas to keep."""
    with Cluster(ClientSettings(cluster.bootstrap_servers)) as client:
        state = read(client)
        assert state.reassignments
        outdated = replace(state, reassignments={})
        moves = plan(outdated, LEAVING)
        assert any(len(each.after) > 2 for each in moves)
        begin(client, outdated, moves, None)
        assert read(client).reassignments == state.reassignments


def test_a_broker_leaves_under_load_and_nothing_is_lost(cluster: RunningCluster) -> None:
    """Interrupted once, then continued; stopped when it has no replicas; then unregistered."""
    written = Replicated(cluster)  # one of its three replicas may be there
    create(cluster, "kept")
    fill(cluster, "kept")
    servers = cluster.brokers[1].bootstrap_servers
    with written.producing():
        written.wait_for_more()
        words = ("--throttle", str(LOW), "--bootstrap", servers)
        process = start("cluster", "decommission", "4", *words)
        wait_until(lambda: bool(throttles(cluster, "kept")), "throttled")
        wait_until(lambda: bool(reassignments(cluster)), "moves have begun")
        process.send_signal(signal.SIGINT)
        _, reported = process.communicate(timeout=120)
        assert b"the moves continue" in reported
        written.wait_for_more()
        done = decommission(cluster, "4", "--throttle", "1000000000")
        assert (done.returncode, done.stdout.splitlines()[:1]) == (
            0,
            ["stop broker 4 now: it has no replicas any more"],
        ), done
        assert held(cluster, LEAVING) == 0
        wait_until(lambda: not throttles(cluster, "kept"), "throttles are removed")
        cluster.stop(LEAVING)
        written.wait_for_more()
        again = decommission(cluster, "4")
        assert again.stdout == "broker 4 is no longer a part of the cluster\n", again
        written.wait_for_more()
    written.check()
    check_kept(cluster)
    gone = decommission(cluster, "4")
    assert (gone.returncode, "no broker 4 in this cluster" in gone.stderr) == (1, True)


def check_kept(cluster: RunningCluster) -> None:
    (topic,) = metadata(cluster, 1, "kept").topics
    for each in topic.partitions:
        assert len(set(each.replica_nodes)) == 2
        assert set(each.isr_nodes) == set(each.replica_nodes)
    servers = {**QUIET, "bootstrap.servers": cluster.brokers[1].bootstrap_servers}
    assert set(AdminClient(servers).list_topics(timeout=30).brokers) == {1, 2, 3}
    consumer = Consumer({**servers, "group.id": "unused", "enable.partition.eof": True})
    consumer.assign([TopicPartition("kept", each, 0) for each in range(PARTITIONS)])
    found = ended = 0
    while ended < PARTITIONS:
        message = consumer.poll(60)
        assert message is not None, f"{found} records, {ended} partitions ended"
        error = message.error()
        if error is None:
            found += message.value() == VALUE
        else:
            assert error.code() == KafkaError._PARTITION_EOF, error
            ended += 1
    consumer.close()
    assert found == RECORDS
