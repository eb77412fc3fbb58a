from __future__ import annotations

import pytest
from tests.unit.controller.clusters import Cluster, three_brokers

from ottla.controller.alter_partition import decide_alter_partition
from ottla.controller.brokers import decide_controlled_shutdown, decide_fence_broker
from ottla.controller.decision import Decision
from ottla.controller.reassignment import decide_alter_partition_reassignments
from ottla.metadata.records import (
    LOST_DIRECTORY,
    RECOVERED,
    RECOVERING,
    BrokerChanged,
    PartitionChanged,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages import alter_partition_response as response
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)


def with_topic() -> Cluster:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3))
    return cluster


def decide(
    cluster: Cluster,
    in_sync: list[int],
    *,
    broker_id: int = 1,
    version: int = 2,
    epochs: dict[int, int] | None = None,
    **fields: int,
) -> Decision[response.AlterPartitionResponse]:
    partition = cluster.partition()
    data = PartitionData(
        0,
        partition.leader_epoch,
        in_sync,
        [BrokerState(each, (epochs or {}).get(each, -1)) for each in in_sync],
        partition.leader_recovery,
        partition.partition_epoch,
    )
    for name, value in fields.items():
        setattr(data, name, value)
    topic = TopicData(cluster.image.topics["t"].id, [data])
    epoch = cluster.image.brokers[broker_id].epoch
    return decide_alter_partition(
        cluster.state, AlterPartitionRequest(broker_id, epoch, [topic]), version
    )


def result(decision: Decision[response.AlterPartitionResponse]) -> response.PartitionData:
    return decision.answer.topics[0].partitions[0]


def test_a_leader_shrinks_and_grows_the_in_sync_replicas() -> None:
    cluster = with_topic()
    decision = decide(cluster, [1, 2])
    cluster.carry_out(decision)
    reported = result(decision)
    assert (reported.error_code, reported.leader_id, list(reported.isr)) == (0, 1, [1, 2])
    assert (reported.partition_epoch, reported.leader_epoch) == (1, 0)
    cluster.carry_out(decide(cluster, [1, 2, 3]))
    assert cluster.partition().in_sync_replicas == (1, 2, 3)
    assert cluster.partition().partition_epoch == 2


def test_a_leader_that_leaves_is_replaced_by_one_that_is_in_sync() -> None:
    cluster = with_topic()
    decision = decide(cluster, [2, 3], leader_recovery_state=RECOVERED)
    assert result(decision).error_code == ErrorCode.NEW_LEADER_ELECTED
    cluster.carry_out(decision)
    partition = cluster.partition()
    assert (partition.leader, partition.leader_epoch) == (2, 1)
    assert partition.in_sync_replicas == (2, 3)


def test_a_follower_may_leave_and_the_leader_stays() -> None:
    cluster = with_topic()
    decision = decide(cluster, [1, 2], broker_id=3)
    reported = result(decision)
    assert (reported.error_code, reported.leader_id, list(reported.isr)) == (0, 1, [1, 2])
    cluster.carry_out(decision)
    partition = cluster.partition()
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (1, 0, 1)


@pytest.mark.parametrize("in_sync", [[1], [2], [1, 2, 3], [3, 1], [1, 1, 2], [1, 2, 2]])
def test_a_follower_can_change_nothing_but_its_own_place(in_sync: list[int]) -> None:
    cluster = with_topic()
    if in_sync == [3, 1]:
        cluster.carry_out(decide(cluster, [1, 3]))
    decision = decide(cluster, in_sync, broker_id=2 if in_sync == [3, 1] else 3)
    assert (decision.records, result(decision).error_code) == ((), ErrorCode.INVALID_REQUEST)


def test_the_last_in_sync_replica_cannot_leave() -> None:
    cluster = with_topic()
    cluster.carry_out(decide(cluster, [1]))
    decision = decide(cluster, [])
    assert (decision.records, result(decision).error_code) == ((), ErrorCode.INVALID_REQUEST)


def test_a_leader_cannot_leave_to_one_that_stops() -> None:
    cluster = with_topic()
    cluster.carry_out(decide(cluster, [1, 2]))
    cluster.apply([BrokerChanged(2, cluster.image.brokers[2].epoch, is_fenced=True)])
    decision = decide(cluster, [2])
    assert (decision.records, result(decision).error_code) == ((), ErrorCode.INELIGIBLE_REPLICA)


def test_a_replica_that_leaves_below_the_minimum_stays_eligible() -> None:
    cluster = with_topic()
    cluster.carry_out(decide(cluster, [1, 2]))
    cluster.carry_out(decide(cluster, [2]))
    partition = cluster.partition()
    assert (partition.leader, partition.in_sync_replicas) == (2, (2,))
    is_below = cluster.state.min_in_sync(cluster.image.topics["t"]) > 1
    assert partition.eligible_replicas == ((1,) if is_below else ())


def test_a_request_that_changes_nothing_is_answered_with_what_is() -> None:
    decision = decide(with_topic(), [1, 2, 3])
    assert decision.records == ()
    assert (result(decision).error_code, result(decision).partition_epoch) == (0, 0)


@pytest.mark.parametrize(
    ("in_sync", "fields", "code"),
    [
        ([1, 2], {"leader_epoch": 1}, ErrorCode.NOT_CONTROLLER),
        ([1, 2], {"partition_epoch": 5}, ErrorCode.NOT_CONTROLLER),
        ([1, 2], {"leader_epoch": -1}, ErrorCode.FENCED_LEADER_EPOCH),
        ([1, 2], {"partition_epoch": -1}, ErrorCode.INVALID_UPDATE_VERSION),
        ([1, 2], {"partition_index": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ([1, 2], {"partition_index": -1}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ([], {}, ErrorCode.INVALID_REQUEST),
        ([2], {}, ErrorCode.INVALID_REQUEST),
        ([1, 1], {}, ErrorCode.INVALID_REQUEST),
        ([1, 4], {}, ErrorCode.INVALID_REQUEST),
        ([1], {"leader_recovery_state": RECOVERING}, ErrorCode.INVALID_REQUEST),
        ([1], {"leader_recovery_state": 7}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_request_that_does_not_fit_is_refused(
    in_sync: list[int], fields: dict[str, int], code: ErrorCode
) -> None:
    decision = decide(with_topic(), in_sync, epochs=None, **fields)
    assert (decision.records, result(decision).error_code) == ((), code)


def test_only_the_leader_may_ask() -> None:
    assert result(decide(with_topic(), [1, 2], broker_id=2)).error_code == ErrorCode.INVALID_REQUEST


def test_a_deleted_topic_is_reported_by_its_id() -> None:
    cluster = with_topic()
    topics = [TopicData(b"x" * 16, [PartitionData(0)])]
    request = AlterPartitionRequest(1, cluster.image.brokers[1].epoch, topics)
    decision = decide_alter_partition(cluster.state, request, 3)
    assert result(decision).error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_broker_of_an_older_epoch_may_not_ask_at_all() -> None:
    cluster = with_topic()
    with pytest.raises(BrokerError, match="Expected broker epoch") as raised:
        decide_alter_partition(cluster.state, AlterPartitionRequest(1, 0, []), 3)
    assert raised.value.code is ErrorCode.STALE_BROKER_EPOCH


def test_a_fenced_broker_cannot_join() -> None:
    cluster = with_topic()
    cluster.carry_out(decide_fence_broker(cluster.state, 3))
    assert result(decide(cluster, [1, 2, 3])).error_code == ErrorCode.INELIGIBLE_REPLICA


def test_a_broker_that_is_stopping_cannot_join() -> None:
    cluster = with_topic()
    epoch = cluster.image.brokers[3].epoch
    cluster.carry_out(decide_controlled_shutdown(cluster.state, 3, epoch))
    assert result(decide(cluster, [1, 2, 3])).error_code == ErrorCode.INELIGIBLE_REPLICA


def test_a_broker_that_restarted_since_it_fetched_cannot_join() -> None:
    cluster = with_topic()
    old = cluster.image.brokers[3].epoch
    cluster.restart_broker(3, is_clean=False)
    stale = decide(cluster, [1, 2, 3], version=3, epochs={3: old})
    assert result(stale).error_code == ErrorCode.INELIGIBLE_REPLICA
    current = decide(cluster, [1, 2, 3], version=3, epochs={3: cluster.image.brokers[3].epoch})
    assert result(current).error_code == ErrorCode.NONE


def test_a_leader_that_was_elected_uncleanly_says_when_it_is_done() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    cluster.restart_broker(1, is_clean=False)
    assert cluster.partition().leader_recovery == RECOVERING
    cluster.carry_out(decide(cluster, [1], leader_recovery_state=RECOVERED))
    assert cluster.partition().leader_recovery == RECOVERED


def test_dropping_below_the_minimum_keeps_the_dropped_eligible() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3), configs={"min.insync.replicas": "2"})
    cluster.carry_out(decide(cluster, [1]))
    now = cluster.partition()
    assert (now.in_sync_replicas, now.eligible_replicas) == ((1,), (2, 3))
    cluster.carry_out(decide(cluster, [1, 3]))
    assert cluster.partition().eligible_replicas == ()


def test_a_change_that_completes_a_move_may_take_the_leadership_away() -> None:
    cluster = with_topic()
    move = ReassignableTopic("t", [ReassignablePartition(0, [2, 3])])
    request = AlterPartitionReassignmentsRequest(topics=[move])
    cluster.carry_out(decide(cluster, [1]))
    cluster.carry_out(decide_alter_partition_reassignments(cluster.state, request))
    assert cluster.partition().removing_replicas == (1,)
    decision = decide(cluster, [1, 2, 3])
    assert result(decision).error_code == ErrorCode.NEW_LEADER_ELECTED
    cluster.carry_out(decision)
    now = cluster.partition()
    assert (now.replicas, now.leader, now.in_sync_replicas) == ((2, 3), 2, (2, 3))


def test_the_same_partition_twice_in_a_request_is_changed_once() -> None:
    cluster = with_topic()
    data = [
        PartitionData(0, 0, isr, [BrokerState(each) for each in isr], 0, 0)
        for isr in ([1, 2], [1, 3])
    ]
    topic = TopicData(cluster.image.topics["t"].id, data)
    request = AlterPartitionRequest(1, cluster.image.brokers[1].epoch, [topic])
    decision = decide_alter_partition(cluster.state, request, 3)
    codes = [each.error_code for each in decision.answer.topics[0].partitions]
    assert codes == [ErrorCode.NONE, ErrorCode.INVALID_REQUEST]
    cluster.carry_out(decision)
    assert cluster.partition().in_sync_replicas == (1, 2)


def test_a_replica_that_is_lost_does_not_become_in_sync() -> None:
    """It is about to remove what the leader has seen it fetch."""
    cluster = with_topic()
    partition = cluster.partition()
    lost = (*partition.directories[:2], LOST_DIRECTORY)
    epoch = partition.partition_epoch + 1
    topic_id = cluster.image.topics["t"].id
    cluster.apply([PartitionChanged(topic_id, 0, epoch, in_sync_replicas=(1, 2), directories=lost)])
    refused = decide(cluster, [1, 2, 3])
    assert result(refused).error_code == ErrorCode.INELIGIBLE_REPLICA
    cluster.apply([PartitionChanged(topic_id, 0, epoch + 1, directories=partition.directories)])
    assert result(decide(cluster, [1, 2, 3])).error_code == ErrorCode.NONE
