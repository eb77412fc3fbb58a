"""Which replicas a broker that leaves gives to which others."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.base.ids import TopicPartition
from ottla.cli.decommission.plan import (
    Move,
    TooFewBrokers,
    plan_moves,
    replica_counts,
    targets,
)

Assignments = dict[TopicPartition, tuple[int, ...]]
Racks = dict[int, str | None]


def topic(*replicas: tuple[int, ...], name: str = "t") -> Assignments:
    return {TopicPartition(name, at): each for at, each in enumerate(replicas)}


def leave(broker_id: int, assignments: Assignments, racks: Racks) -> list[Move]:
    leaving = {at: {broker_id} for at, each in assignments.items() if broker_id in each}
    others = {each: rack for each, rack in racks.items() if each != broker_id}
    return plan_moves(assignments, leaving, others)


def without_racks(*brokers: int) -> Racks:
    return dict.fromkeys(brokers)


def test_only_partitions_of_the_broker_are_changed_and_others_keep_their_place() -> None:
    assignments = topic((1, 2, 3), (2, 3, 4), (4, 1, 2))
    assert leave(3, assignments, without_racks(1, 2, 3, 4)) == [
        Move(TopicPartition("t", 0), (1, 2, 3), (1, 2, 4)),
        Move(TopicPartition("t", 1), (2, 3, 4), (2, 1, 4)),
    ]


def test_a_broker_without_replicas_needs_no_moves() -> None:
    assert leave(4, topic((1, 2, 3)), without_racks(1, 2, 3, 4)) == []


def test_a_rack_that_no_other_replica_uses_is_preferred_to_a_balanced_cluster() -> None:
    racks: Racks = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c"}
    moves = leave(5, topic(*[(1, 5)] * 4), racks)
    assert [each.after for each in moves].count((1, 3)) == 2
    assert [each.after for each in moves].count((1, 4)) == 2


def test_a_used_rack_is_chosen_if_there_is_no_other() -> None:
    assert targets((1, 5), {5}, {1: "a", 2: "a"}) == {2}


def test_a_replica_that_can_go_anywhere_leaves_room_for_one_that_cannot() -> None:
    """The first may only go to broker 2, the second one goes to 3 although 2 comes first."""
    assignments = topic((1, 4, 3), (1, 4))
    moves = leave(4, assignments, {1: "a", 2: "b", 3: "c", 4: "d"})
    assert [each.after for each in moves] == [(1, 2, 3), (1, 2)]  # 3 had one replica before
    moves = leave(4, assignments | topic((2, 1), name="u"), {1: "a", 2: "b", 3: "c", 4: "d"})
    assert [each.after for each in moves] == [(1, 2, 3), (1, 3)]


def test_topics_with_more_replicas_than_brokers_are_named() -> None:
    assignments = topic((1, 2, 3), name="wide") | topic((1, 2), (2, 3), name="narrow")
    with pytest.raises(TooFewBrokers) as refused:
        leave(3, assignments, without_racks(1, 2, 3))
    assert refused.value.factors == {"wide": 3}


def test_several_replicas_of_a_partition_are_replaced_by_different_brokers() -> None:
    at = TopicPartition("t", 0)
    (move,) = plan_moves({at: (1, 2, 3)}, {at: {1, 3}}, without_racks(2, 4, 5))
    assert move.after == (4, 2, 5)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Assignments, Racks]:
    brokers = draw(st.integers(2, 6))
    names = st.sampled_from(["a", "b", "c", None])
    racks: Racks = {each: draw(names) for each in range(1, brokers + 1)}
    replicas = st.integers(1, brokers - 1).flatmap(
        lambda factor: st.permutations(range(1, brokers + 1)).map(lambda ids: tuple(ids[:factor]))
    )
    return topic(*draw(st.lists(replicas, max_size=5))), racks


@given(clusters())
def test_a_plan_is_complete_minimal_and_as_balanced_as_it_can_be(
    cluster: tuple[Assignments, Racks],
) -> None:
    assignments, racks = cluster
    moves = leave(1, assignments, racks)
    assert {each.partition for each in moves} == {
        at for at, each in assignments.items() if 1 in each
    }
    for move in moves:
        assert move.before == assignments[move.partition]
        assert len(set(move.after)) == len(move.after) == len(move.before)
        changed = [old for old, new in zip(move.before, move.after, strict=True) if old != new]
        assert changed == [1]
        (target,) = set(move.after) - set(move.before)
        assert target in targets(move.before, {1}, {n: r for n, r in racks.items() if n != 1})
    planned = assignments | {each.partition: each.after for each in moves}
    assert spread(planned, racks) == best_spread(assignments, racks)


def spread(assignments: Assignments, racks: Racks) -> int:
    """The smaller, the more equal."""
    counts = replica_counts(assignments.values(), racks.keys() - {1})
    return sum(count * count for count in counts.values())


def best_spread(assignments: Assignments, racks: Racks) -> int:
    """By trying all plans."""
    affected = [at for at, each in assignments.items() if 1 in each]
    others = {each: rack for each, rack in racks.items() if each != 1}
    choices = [sorted(targets(assignments[at], {1}, others)) for at in affected]
    return min(
        spread(
            assignments
            | {
                at: tuple(target if each == 1 else each for each in assignments[at])
                for at, target in zip(affected, chosen, strict=True)
            },
            racks,
        )
        for chosen in product(*choices)
    )


@given(st.integers(3, 6), st.integers(1, 40), st.integers(1, 2))
def test_a_balanced_cluster_without_racks_stays_balanced_within_one(
    brokers: int, partitions: int, factor: int
) -> None:
    assignments = topic(
        *[
            tuple(1 + (at + step) % brokers for step in range(factor))
            for at in range(partitions * brokers)
        ]
    )
    racks = without_racks(*range(1, brokers + 1))
    moves = leave(1, assignments, racks)
    after = assignments | {each.partition: each.after for each in moves}
    counts = replica_counts(after.values(), range(2, brokers + 1)).values()
    assert max(counts) - min(counts) <= 1
