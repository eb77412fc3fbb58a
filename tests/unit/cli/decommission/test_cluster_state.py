"""What keeps a broker from leaving, and what a run after an interrupted one plans."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ottla.base.ids import TopicPartition
from ottla.cli.decommission.cluster_state import ClusterState, check, plan
from ottla.cli.decommission.plan import Move
from ottla.cli.decommission.reassigning import progress
from ottla.cli.decommission.throttles import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    names_broker,
    throttle_changes,
)
from ottla.cli.errors import CommandFailed
from ottla.client.admin.brokers import BrokerDescription
from ottla.client.admin.reassignments import TOPIC_RESOURCE, Reassignment
from ottla.client.cluster.topology import PartitionDescription
from ottla.config.addresses import Address

AT = TopicPartition("t", 0)


def cluster(
    replicas: Mapping[TopicPartition, tuple[int, ...]],
    brokers: int,
    *,
    fenced: tuple[int, ...] = (),
    moving: Mapping[TopicPartition, Reassignment] | None = None,
    leader: int = 1,
) -> ClusterState:
    return ClusterState(
        {
            each: BrokerDescription(each, Address("h", 9092), None, each in fenced)
            for each in range(1, brokers + 1)
        },
        {at: PartitionDescription(at.partition, leader, 0, each) for at, each in replicas.items()},
        moving or {},
    )


def test_an_unknown_broker_is_refused_with_those_that_exist() -> None:
    with pytest.raises(CommandFailed, match=r"no broker 9[^\n]*\n  its brokers are 1, 2"):
        check(cluster({AT: (1, 2)}, 2), 9)


def test_a_broker_that_is_gone_but_has_replicas_can_leave() -> None:
    state = cluster({AT: (1, 9)}, 2)
    check(state, 9)
    assert plan(state, 9) == [Move(AT, (1, 9), (1, 2))]


def test_the_only_broker_cannot_leave() -> None:
    with pytest.raises(CommandFailed, match="broker 1 is the only broker"):
        check(cluster({AT: (1,)}, 1), 1)


def test_a_partition_without_a_leader_cannot_be_copied() -> None:
    with pytest.raises(CommandFailed, match="t-0 without a leader"):
        check(cluster({AT: (3,)}, 3, fenced=(3,), leader=-1), 3)


def test_topics_with_too_many_replicas_and_fenced_brokers_are_named() -> None:
    state = cluster({AT: (1, 2, 3)}, 4, fenced=(4,))
    with pytest.raises(CommandFailed) as refused:
        plan(state, 3)
    assert "too few for t (replication factor 3)" in str(refused.value)
    assert "start the brokers that are fenced: 4" in str(refused.value)


def test_a_fenced_broker_is_no_target() -> None:
    assert plan(cluster({AT: (1, 2)}, 4, fenced=(3,)), 2) == [Move(AT, (1, 2), (1, 4))]


def test_what_is_under_way_is_not_planned_again() -> None:
    moving = {AT: Reassignment((1, 3, 2), (3,), (2,))}
    assert plan(cluster({AT: (1, 3, 2)}, 4, moving=moving), 2) == []


def test_a_target_that_has_died_is_replaced_when_the_command_is_run_again() -> None:
    moving = {AT: Reassignment((1, 3, 2), (3,), (2,))}
    state = cluster({AT: (1, 3, 2)}, 4, fenced=(3,), moving=moving)
    assert plan(state, 2) == [Move(AT, (1, 3), (1, 4))]
    assert plan(state, 2, may_replace_dead=False) == []
    assert "waiting for 3, which is fenced" in progress(state, 2, 1)


def test_a_move_to_the_broker_that_leaves_is_redirected() -> None:
    moving = {AT: Reassignment((1, 2, 3), (2,), (3,))}
    state = cluster({AT: (1, 2, 3)}, 4, moving=moving)
    assert plan(state, 2)[0].after in ((1, 3), (1, 4))


def test_throttles_name_senders_and_receivers() -> None:
    changes = throttle_changes([Move(AT, (1, 2), (1, 3))], [1, 2, 3], 1000)
    assert changes[TOPIC_RESOURCE, "t"] == {LEADER_REPLICAS: "0:1,0:2", FOLLOWER_REPLICAS: "0:3"}
    assert len(changes) == 4


@pytest.mark.parametrize(
    ("value", "expected"), [("0:1,0:2", True), ("0:12", False), (None, False), ("", False)]
)
def test_throttles_of_a_broker_are_found(value: str | None, expected: bool) -> None:
    assert names_broker(value, 2) is expected
