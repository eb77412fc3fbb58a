from __future__ import annotations

import pytest
from tests.unit.controller.clusters import Cluster, directory

from ottla.base.ids import NO_LEADER
from ottla.controller.assign_directories import decide_assign_directories
from ottla.controller.brokers import decide_directories_offline, decide_fence_broker
from ottla.metadata.records import LOST_DIRECTORY
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)


def two_brokers() -> Cluster:
    cluster = Cluster()
    cluster.add_broker(1, directories=2)
    cluster.add_broker(2)
    cluster.add_topic("t", (1, 2))
    cluster.add_topic("alone", (1,))
    return cluster


def assign(
    cluster: Cluster, topic: str, directory_id: bytes, *, broker_id: int = 1, index: int = 0
) -> ErrorCode:
    known = cluster.image.topic(topic)
    topic_id = known.id if known is not None else b"x" * 16
    data = DirectoryData(directory_id, [TopicData(topic_id, [PartitionData(index)])])
    epoch = cluster.image.brokers[broker_id].epoch
    request = AssignReplicasToDirsRequest(broker_id, epoch, [data])
    answer = cluster.carry_out(decide_assign_directories(cluster.state, request))
    return ErrorCode(answer.directories[0].topics[0].partitions[0].error_code)


def test_a_broker_with_several_directories_says_which_one_it_took() -> None:
    cluster = two_brokers()
    assert cluster.partition().directories == (bytes(16), directory(2))
    assert assign(cluster, "t", directory(1, 1)) is ErrorCode.NONE
    assert cluster.partition().directories == (directory(1, 1), directory(2))
    assert (cluster.partition().leader, cluster.partition().leader_epoch) == (1, 0)


def test_saying_the_same_again_changes_nothing() -> None:
    cluster = two_brokers()
    assign(cluster, "t", directory(1, 1))
    before = cluster.partition()
    assign(cluster, "t", directory(1, 1))
    assert cluster.partition() == before


def test_a_partition_in_a_directory_that_does_not_work_is_led_by_others() -> None:
    cluster = two_brokers()
    assert assign(cluster, "t", b"gone" * 4) is ErrorCode.NONE
    assert (cluster.partition().leader, cluster.partition().in_sync_replicas) == (2, (2,))


def test_a_partition_that_was_found_in_another_directory_is_led_again() -> None:
    cluster = two_brokers()
    assign(cluster, "alone", directory(1, 0))
    epoch = cluster.image.brokers[1].epoch
    lost = decide_directories_offline(cluster.state, 1, epoch, [directory(1, 0)])
    cluster.carry_out(lost)
    assert cluster.partition("alone").leader == NO_LEADER
    assign(cluster, "alone", directory(1, 1))
    now = cluster.partition("alone")
    assert (now.leader, now.in_sync_replicas) == (1, (1,))


def test_what_the_broker_does_not_have_is_refused() -> None:
    cluster = two_brokers()
    assert assign(cluster, "missing", directory(1)) is ErrorCode.UNKNOWN_TOPIC_ID
    assert assign(cluster, "t", directory(1), index=9) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    code = assign(cluster, "alone", directory(2), broker_id=2)
    assert code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_only_the_broker_itself_may_say_so() -> None:
    cluster = two_brokers()
    with pytest.raises(BrokerError, match="Expected broker epoch"):
        decide_assign_directories(cluster.state, AssignReplicasToDirsRequest(1, 0))


def test_a_replica_with_damaged_records_is_neither_in_sync_nor_eligible() -> None:
    cluster = two_brokers()
    cluster.add_topic("strict", (1, 2), configs={"min.insync.replicas": "2"})
    for topic in ("t", "strict"):
        assert assign(cluster, topic, LOST_DIRECTORY) is ErrorCode.NONE
        now = cluster.partition(topic)
        assert (now.leader, now.in_sync_replicas, now.eligible_replicas) == (2, (2,), ())


def test_a_damaged_replica_returns_in_a_new_leader_epoch() -> None:
    """Its leader may still hold a fetch from before the damaged records were removed."""
    cluster = two_brokers()
    assign(cluster, "t", LOST_DIRECTORY)
    before = cluster.partition()
    assign(cluster, "t", directory(1, 1))
    now = cluster.partition()
    assert (now.leader, now.leader_epoch) == (before.leader, before.leader_epoch + 1)
    assert now.in_sync_replicas == (2,)
    assign(cluster, "t", directory(1, 0))
    assert cluster.partition().leader_epoch == now.leader_epoch, "it has only moved"


def test_a_damaged_replica_that_no_other_can_replace_stays_as_it_is() -> None:
    cluster = two_brokers()
    before = cluster.partition("alone")
    assert assign(cluster, "alone", LOST_DIRECTORY) is ErrorCode.KAFKA_STORAGE_ERROR
    assert cluster.partition("alone") == before
    epoch = cluster.image.brokers[2].epoch
    cluster.carry_out(decide_fence_broker(cluster.state, 2, epoch))
    assert assign(cluster, "t", LOST_DIRECTORY) is ErrorCode.KAFKA_STORAGE_ERROR
    assert cluster.partition().leader == 1
