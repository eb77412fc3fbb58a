"""Damaged records on one replica: they are not served, and the replica is copied again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.integration.cluster.harness import ask
from tests.integration.cluster.test_replication import Replicated
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.fetch_response import PartitionData
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci

VERSION = 12


def fetch(topic: Replicated, broker_id: int) -> PartitionData:
    """The first records of a replica, as a consumer gets them."""
    wanted = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[FetchTopic(topic.name, partitions=[wanted])],
    )
    found: PartitionData = (
        ask(topic.cluster, broker_id, request, VERSION).responses[0].partitions[0]
    )
    return found


def damage(topic: Replicated, broker_id: int) -> None:
    """Flip a bit of a record while the broker is stopped cleanly: its start does not look."""
    topic.cluster.stop(broker_id)
    path = Path(topic.cluster.brokers[broker_id].data) / f"{topic.name}-0" / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    topic.cluster.start(broker_id)
    topic.wait_until_in_sync()


def elect_preferred(topic: Replicated) -> None:
    partitions = [TopicPartitions(topic.name, [0])]
    ask(topic.cluster, topic.leader, ElectLeadersRequest(0, partitions, 30_000))


@pytest.fixture
def topic(cluster: RunningCluster) -> Replicated:
    topic = Replicated(cluster)
    with topic.producing():
        topic.wait_for_more(100)
    topic.wait_until_in_sync()
    return topic


def test_a_leader_with_damaged_records_hands_over_and_repairs_its_log(topic: Replicated) -> None:
    damaged = topic.leader
    damage(topic, damaged)
    if topic.leader != damaged:
        elect_preferred(topic)
        wait_until(lambda: topic.leader == damaged, "it leads again")
    assert fetch(topic, damaged).error_code == ErrorCode.CORRUPT_MESSAGE
    wait_until(lambda: topic.leader != damaged, "another broker leads")
    topic.wait_until_equal()
    topic.wait_until_in_sync()
    topic.check()
    with topic.producing():
        topic.wait_for_more()
    assert fetch(topic, damaged).error_code == ErrorCode.NONE


@pytest.mark.parametrize("is_leader", [True, False])
def test_a_replica_whose_files_somebody_removes_is_copied_again(
    topic: Replicated, is_leader: bool
) -> None:
    leader = topic.leader
    followers = [each for each in topic.cluster.ids if each != leader]
    broker_id = leader if is_leader else followers[0]
    with topic.producing():
        shutil.rmtree(Path(topic.cluster.brokers[broker_id].data) / f"{topic.name}-0")
        if is_leader:
            wait_until(lambda: topic.leader not in (leader, -1), "another broker leads")
        topic.wait_for_more(100)
    topic.wait_until_equal()
    topic.wait_until_in_sync()
    topic.check()
    topic.cluster.stop(broker_id)
    topic.cluster.start(broker_id)
    topic.wait_until_in_sync()


def test_a_follower_with_damaged_records_repairs_its_log(topic: Replicated) -> None:
    damaged = topic.followers[0]
    damage(topic, damaged)
    assert fetch(topic, damaged).error_code == ErrorCode.CORRUPT_MESSAGE
    topic.wait_until_equal()
    topic.wait_until_in_sync()
    assert fetch(topic, damaged).error_code == ErrorCode.NONE
    topic.check()
