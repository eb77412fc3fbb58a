"""Elections on request, and replicas that move to other brokers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest
from tests.unit.controller.clusters import Cluster, three_brokers
from tests.unit.controller.test_alter_partition import decide as alter_partition

from ottla.base.ids import NO_LEADER
from ottla.base.scheduling.steps import run_blocking
from ottla.controller import elect_leaders
from ottla.controller.brokers import decide_fence_broker, decide_unfence_broker
from ottla.controller.decision import Decision
from ottla.controller.elect_leaders import (
    decide_balance_leaders,
    decide_elect_leaders,
    decide_unclean_elections,
)
from ottla.controller.reassignment import (
    decide_alter_partition_reassignments,
    list_partition_reassignments,
)
from ottla.controller.state import ControllerState
from ottla.metadata.entities import PartitionRegistration
from ottla.metadata.records import RECOVERING, PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

PREFERRED, UNCLEAN = 0, 1


def elect(cluster: Cluster, kind: int, *indexes: int) -> list[tuple[int, ErrorCode]]:
    request = ElectLeadersRequest(kind, [TopicPartitions("t", list(indexes))])
    answer = cluster.carry_out(decide_elect_leaders(cluster.state, request))
    (result,) = answer.replica_election_results
    return [(each.partition_id, ErrorCode(each.error_code)) for each in result.partition_result]


def move(
    cluster: Cluster, replicas: Sequence[int] | None, *, may_change_factor: bool = True
) -> tuple[ErrorCode, str | None]:
    target = ReassignableTopic("t", [ReassignablePartition(0, replicas)])
    request = AlterPartitionReassignmentsRequest(10_000, may_change_factor, [target])
    answer = cluster.carry_out(decide_alter_partition_reassignments(cluster.state, request))
    result = answer.responses[0].partitions[0]
    return ErrorCode(result.error_code), result.error_message


def fence(cluster: Cluster, *broker_ids: int) -> None:
    for broker_id in broker_ids:
        cluster.carry_out(decide_fence_broker(cluster.state, broker_id))


def unfence(cluster: Cluster, broker_id: int) -> None:
    epoch = cluster.image.brokers[broker_id].epoch
    cluster.carry_out(decide_unfence_broker(cluster.state, broker_id, epoch))


def led_by_second() -> Cluster:
    """Broker 1 was away and is back in sync; broker 2 leads."""
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3), (1, 2, 3))
    fence(cluster, 1)
    unfence(cluster, 1)
    cluster.carry_out(alter_partition(cluster, [1, 2, 3], broker_id=2))
    return cluster


def test_leadership_goes_back_to_the_preferred_replica_where_it_is_in_sync() -> None:
    cluster = led_by_second()
    assert elect(cluster, PREFERRED, 0, 1) == [
        (0, ErrorCode.NONE),
        (1, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
    ]
    assert (cluster.partition().leader, cluster.partition("t", 1).leader) == (1, 2)
    assert elect(cluster, PREFERRED, 0) == [(0, ErrorCode.ELECTION_NOT_NEEDED)]


def test_asked_for_twice_it_is_held_once() -> None:
    cluster = led_by_second()
    assert elect(cluster, PREFERRED, 0, 0) == [(0, ErrorCode.NONE), (0, ErrorCode.NONE)]
    assert cluster.partition().leader == 1


def test_an_election_for_all_partitions_reports_only_those_that_needed_one() -> None:
    cluster = led_by_second()
    decision = decide_elect_leaders(cluster.state, ElectLeadersRequest(PREFERRED, None))
    reported = decision.answer.replica_election_results[0].partition_result
    assert [(each.partition_id, each.error_code) for each in reported] == [
        (0, ErrorCode.NONE),
        (1, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
    ]


def test_the_controller_gives_leadership_back_by_itself() -> None:
    cluster = led_by_second()
    assert cluster.carry_out(decide_balance_leaders(cluster.state)) is False
    assert cluster.partition().leader == 1
    assert decide_balance_leaders(cluster.state).records == ()


def test_an_unclean_election_needs_a_living_replica() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    fence(cluster, 2, 1)
    assert elect(cluster, UNCLEAN, 0) == [(0, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)]


def test_an_unclean_election_loses_what_others_had() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    fence(cluster, 2)
    unfence(cluster, 2)  # alive, and behind
    fence(cluster, 1)
    assert (cluster.partition().leader, cluster.partition().eligible_replicas) == (NO_LEADER, (1,))
    assert elect(cluster, UNCLEAN, 0) == [(0, ErrorCode.NONE)]
    now = cluster.partition()
    assert (now.leader, now.in_sync_replicas, now.eligible_replicas) == (2, (2,), ())
    assert now.leader_recovery == RECOVERING
    assert elect(cluster, UNCLEAN, 0) == [(0, ErrorCode.ELECTION_NOT_NEEDED)]


def test_the_controller_elects_uncleanly_only_where_the_topic_allows_it() -> None:
    cluster = three_brokers()
    for name, allowed in (("t", "false"), ("u", "true")):
        cluster.add_topic(name, (1, 2), configs={"unclean.leader.election.enable": allowed})
    fence(cluster, 2, 1)
    assert (cluster.partition("t").leader, cluster.partition("u").leader) == (NO_LEADER, NO_LEADER)
    unfence(cluster, 2)
    assert (cluster.partition("t").leader, cluster.partition("u").leader) == (NO_LEADER, 2)
    assert decide_unclean_elections(cluster.state).records == ()


def test_a_move_adds_the_new_replicas_first() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    assert move(cluster, (3, 2)) == (ErrorCode.NONE, None)
    now = cluster.partition()
    assert (now.replicas, now.adding_replicas, now.removing_replicas) == ((3, 2, 1), (3,), (1,))
    assert (now.leader, now.in_sync_replicas) == (1, (1, 2))
    cluster.carry_out(alter_partition(cluster, [1, 2, 3]))
    done = cluster.partition()
    assert (done.replicas, done.leader, done.is_reassigning) == ((3, 2), 3, False)


def test_the_same_move_again_still_waits_for_the_new_replica() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    move(cluster, (1, 3))
    assert move(cluster, (1, 3)) == (ErrorCode.NONE, None)
    assert (cluster.partition().replicas, cluster.partition().adding_replicas) == ((1, 3), (3,))
    assert move(cluster, None) == (ErrorCode.NONE, None)
    assert cluster.partition().replicas == (1,)


def test_the_number_of_replicas_is_that_of_a_move_under_way() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    move(cluster, (1, 3))
    assert move(cluster, (1, 3), may_change_factor=False) == (ErrorCode.NONE, None)
    assert move(cluster, (1,), may_change_factor=False)[0] == ErrorCode.INVALID_REPLICATION_FACTOR


def test_a_new_order_of_the_same_replicas_is_done_at_once() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    move(cluster, (2, 1))
    now = cluster.partition()
    assert (now.replicas, now.is_reassigning, now.leader) == ((2, 1), False, 1)


def test_moving_to_where_it_is_changes_nothing() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    before = cluster.partition()
    assert move(cluster, (1, 2)) == (ErrorCode.NONE, None)
    assert cluster.partition() == before


def test_fewer_replicas_are_dropped_at_once_if_enough_stay_in_sync() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3))
    move(cluster, (2,))
    now = cluster.partition()
    assert (now.replicas, now.leader, now.in_sync_replicas) == ((2,), 2, (2,))
    assert now.leader_epoch == 1


def test_a_cancelled_move_goes_back_to_what_was() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    move(cluster, (3, 2))
    assert move(cluster, None) == (ErrorCode.NONE, None)
    now = cluster.partition()
    assert (now.replicas, now.is_reassigning, now.leader) == ((2, 1), False, 1)
    assert move(cluster, None) == (ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)


def test_a_move_whose_new_replicas_alone_are_in_sync_cannot_be_cancelled_cleanly() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    move(cluster, (2, 3))
    cluster.carry_out(alter_partition(cluster, [1, 2]))
    fence(cluster, 1)
    assert (cluster.partition().leader, cluster.partition().in_sync_replicas) == (2, (2,))
    assert move(cluster, None) == (
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "Unable to revert partition assignment for t:0 because it would require an unclean leader "
        "election.",
    )


@pytest.mark.parametrize("seed", range(60))
def test_of_several_moves_the_last_one_remains(seed: int) -> None:
    """Each may begin before the one before has ended, and take back a part of it."""
    random, cluster = Random(seed), three_brokers()
    for broker_id in (4, 5):
        cluster.add_broker(broker_id)
    cluster.add_topic("t", (1, 2, 3))
    target: tuple[int, ...] = (1, 2, 3)
    for _ in range(6):
        set_in_sync(cluster, lambda _each: random.random() < 0.5)
        if random.random() < 0.7:
            target = tuple(random.sample(range(1, 6), random.randrange(1, 6)))
            before = cluster.partition()
            assert move(cluster, target) == (ErrorCode.NONE, None)
            check_fewer_are_in_sync(before, cluster.partition())
    for _ in range(3):  # the leader may change when a move ends
        set_in_sync(cluster, lambda _each: True)
    now = cluster.partition()
    assert (now.replicas, now.adding_replicas, now.removing_replicas) == (target, (), ())
    assert sorted(now.in_sync_replicas) == sorted(target)


def set_in_sync(cluster: Cluster, is_in_sync: Callable[[int], bool]) -> None:
    before = cluster.partition()
    in_sync = [each for each in before.replicas if each == before.leader or is_in_sync(each)]
    cluster.carry_out(alter_partition(cluster, in_sync, broker_id=before.leader))
    check_fewer_are_in_sync(before, cluster.partition())


def check_fewer_are_in_sync(before: PartitionRegistration, now: PartitionRegistration) -> None:
    """The replicas that were removed may have been the only others with all records."""
    count = len(before.replicas) - len(before.adding_replicas)
    if not now.is_reassigning and len(now.replicas) < count:
        assert set(now.in_sync_replicas) == set(now.replicas)


@pytest.mark.parametrize("decide", [decide_balance_leaders, decide_unclean_elections])
def test_elections_by_the_controller_go_on_until_all_are_held(
    monkeypatch: pytest.MonkeyPatch, decide: Callable[[ControllerState], Decision[bool]]
) -> None:
    monkeypatch.setattr(elect_leaders, "ELECTIONS_MAX", 2)
    cluster = three_brokers()
    settings = {"unclean.leader.election.enable": "true"}
    cluster.add_topic("t", *[(1, 2)] * 5, configs=settings)
    if decide is decide_unclean_elections:
        leaderless = [
            PartitionChanged(cluster.image.topics["t"].id, index, 1, leader=NO_LEADER,
                             leader_epoch=1, in_sync_replicas=(3,))
            for index in range(5)
        ]  # fmt: skip
        cluster.apply(leaderless)
    else:
        fence(cluster, 1)
        unfence(cluster, 1)
        for index in range(5):
            topic_id = cluster.image.topics["t"].id
            epoch = cluster.partition("t", index).partition_epoch + 1
            cluster.apply([PartitionChanged(topic_id, index, epoch, in_sync_replicas=(1, 2))])
    rounds = 1
    while cluster.carry_out(decide(cluster.state)):
        rounds += 1
        assert rounds < 10
    assert rounds == 3
    assert all(cluster.partition("t", index).leader == 1 for index in range(5))


def test_the_number_of_replicas_changes_only_if_that_was_allowed() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    assert move(cluster, (1, 2, 3), may_change_factor=False) == (
        ErrorCode.INVALID_REPLICATION_FACTOR,
        "The replication factor is changed from 2 to 3",
    )
    assert move(cluster, (1, 3), may_change_factor=False)[0] is ErrorCode.NONE
    assert move(cluster, (2, 3), may_change_factor=False)[0] is ErrorCode.NONE


def test_moves_under_way_are_listed() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2), (1, 2))
    cluster.add_topic("quiet", (1, 2))
    move(cluster, (3, 2))
    for asked in (None, [ListPartitionReassignmentsTopics("t", [0, 1, 9, -1])]):
        request = ListPartitionReassignmentsRequest(10_000, asked)
        (topic,) = run_blocking(list_partition_reassignments(cluster.image, request)).topics
        (moving,) = topic.partitions
        assert (topic.name, moving.partition_index) == ("t", 0)
        assert (moving.replicas, moving.adding_replicas) == ((3, 2, 1), (3,))
