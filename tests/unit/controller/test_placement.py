from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.controller.decision import ItemRejected
from ottla.controller.placement import UsableBroker, place

RACKS = st.sampled_from([None, "a", "b", "c"])
BROKERS = st.lists(st.tuples(RACKS, st.booleans()), min_size=1, max_size=12).map(
    lambda brokers: [UsableBroker(n, rack, fenced) for n, (rack, fenced) in enumerate(brokers)]
)


def alive(*racks: str | None) -> list[UsableBroker]:
    return [UsableBroker(number, rack, False) for number, rack in enumerate(racks)]


@given(BROKERS, st.integers(1, 40), st.integers(1, 12), st.integers(0, 1000))
def test_every_placement_keeps_the_rules(
    brokers: list[UsableBroker], partitions: int, factor: int, seed: int
) -> None:
    fenced = {each.broker_id for each in brokers if each.is_fenced}
    if factor > len(brokers) or len(fenced) == len(brokers):
        with pytest.raises(ItemRejected):
            place(brokers, partitions, factor, Random(seed))
        return
    racks = {each.broker_id: each.rack for each in brokers}
    sizes = Counter(racks.values())
    for replicas in place(brokers, partitions, factor, Random(seed)):
        assert len(replicas) == len(set(replicas)) == factor
        assert replicas[0] not in fenced
        used = Counter(racks[each] for each in replicas)
        # No rack gets a second replica while another that has room still has none.
        assert len(used) == min(factor, len(sizes))


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 60), st.integers(0, 1000), st.data())
def test_replicas_and_leaders_are_spread_evenly_over_equal_racks(
    racks: int, per_rack: int, partitions: int, seed: int, data: st.DataObject
) -> None:
    brokers = alive(*(f"r{rack}" for rack in range(racks) for _ in range(per_rack)))
    factor = data.draw(st.integers(1, racks))
    placements = place(brokers, partitions * len(brokers), factor, Random(seed))
    held = Counter(each for replicas in placements for each in replicas)
    led = Counter(replicas[0] for replicas in placements)
    assert {held[each.broker_id] for each in brokers} == {factor * partitions}
    assert max(led.values()) - min(led[each.broker_id] for each in brokers) <= 1


def test_without_racks_partitions_are_striped_over_brokers() -> None:
    placements = place(alive(None, None, None), 3, 3, Random(1))
    assert sorted(replicas[0] for replicas in placements) == [0, 1, 2]
    assert len(set(placements)) == 3


def test_each_partition_of_three_replicas_is_on_three_racks() -> None:
    brokers = alive("a", "a", "a", "b", "b", "b", "c", "c", "c")
    for replicas in place(brokers, 18, 3, Random(5)):
        assert {each // 3 for each in replicas} == {0, 1, 2}


def test_fenced_brokers_are_used_only_when_the_others_are_used_up() -> None:
    brokers = [
        UsableBroker(1, None, False),
        UsableBroker(2, None, True),
        UsableBroker(3, None, False),
    ]
    for replicas in place(brokers, 10, 2, Random(1)):
        assert set(replicas) == {1, 3}
    for replicas in place(brokers, 10, 3, Random(1)):
        assert replicas[2] == 2


def test_the_same_dice_place_the_same() -> None:
    brokers = alive("a", "b", "a", "b")
    assert place(brokers, 20, 2, Random(9)) == place(brokers, 20, 2, Random(9))


def test_two_partitions_seldom_share_their_replicas() -> None:
    placements = place(alive(*[None] * 6), 60, 3, Random(3))
    assert len({frozenset(replicas) for replicas in placements}) > 10


@pytest.mark.parametrize(
    ("brokers", "factor", "message"),
    [
        (alive(None), 0, "Invalid replication factor 0: the replication factor must be positive."),
        ([], 1, "All brokers are currently fenced"),
        ([UsableBroker(1, None, True)], 1, "All brokers are currently fenced"),
        (alive(None), 2, "The target replication factor of 2 cannot be reached because only 1"),
    ],
)
def test_what_cannot_be_placed_is_refused(
    brokers: list[UsableBroker], factor: int, message: str
) -> None:
    with pytest.raises(ItemRejected) as raised:
        place(brokers, 1, factor, Random(1))
    assert message in raised.value.message
