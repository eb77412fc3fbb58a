"""Replicas are added, removed and moved while records are produced."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.cluster.harness import ask
from tests.integration.cluster.test_replication import Replicated
from tests.support.waiting import wait_until

from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci


def reassign(topic: Replicated, replicas: list[int] | None) -> None:
    partition = ReassignablePartition(0, replicas)
    request = AlterPartitionReassignmentsRequest(
        30_000, topics=[ReassignableTopic(topic.name, [partition])]
    )
    answer = ask(topic.cluster, topic.leader, request)
    assert answer.error_code == 0, answer
    assert answer.responses[0].partitions[0].error_code == 0, answer


def wait_until_moved(topic: Replicated, replicas: list[int]) -> None:
    def is_moved() -> bool:
        found = topic.partition()
        return list(found.replica_nodes) == replicas and set(found.isr_nodes) == set(replicas)

    wait_until(is_moved, f"its replicas are {replicas}")
    request = ListPartitionReassignmentsRequest(30_000)
    assert not list(ask(topic.cluster, topic.leader, request).topics)


def directory(topic: Replicated, broker_id: int) -> Path:
    return Path(topic.cluster.brokers[broker_id].data) / f"{topic.name}-0"


def test_a_partition_is_moved_while_it_is_written(cluster: RunningCluster) -> None:
    """From one replica to another one, then to three, then to two with another leader first."""
    topic = Replicated(cluster, replicas=1)
    (first,) = topic.partition().replica_nodes
    second, third = (each for each in cluster.ids if each != first)
    with topic.producing():
        topic.wait_for_more()
        for replicas in ([second], [second, first, third], [third, first]):
            reassign(topic, replicas)
            wait_until_moved(topic, replicas)
            topic.wait_for_more()
            for each in cluster.ids:
                if each not in replicas:
                    wait_until(lambda each=each: not directory(topic, each).exists(), "deleted")  # type: ignore[misc]
    topic.check()
    assert directory(topic, third).exists()


def test_a_broker_that_was_away_deletes_what_was_moved(cluster: RunningCluster) -> None:
    topic = Replicated(cluster)
    with topic.producing():
        topic.wait_for_more()
        moved = topic.followers[0]
        remaining = [each for each in cluster.ids if each != moved]
        cluster.kill(moved)
        reassign(topic, remaining)
        wait_until(lambda: moved not in topic.partition().replica_nodes, "moved")
        assert directory(topic, moved).exists()
        cluster.start(moved)
        wait_until(lambda: not directory(topic, moved).exists(), "deleted at the start")
        topic.wait_for_more()
    topic.check()
