"""Dividing partitions among members: balance, stickiness, ranges."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.coordinators.groups.assignors import ASSIGNORS
from ottla.coordinators.groups.assignors.division import Division, Subscriber
from ottla.coordinators.groups.assignors.range import divide_by_range
from ottla.coordinators.groups.assignors.uniform import divide_uniformly

A, B, C = b"A" * 16, b"B" * 16, b"C" * 16
Owned = tuple[bytes, int]


def members(**wishes: frozenset[bytes]) -> dict[str, Subscriber]:
    return {name: Subscriber(topics) for name, topics in wishes.items()}


def again(division: Division, **wishes: frozenset[bytes]) -> dict[str, Subscriber]:
    """The members after a division: those named, with what they have."""
    return {name: Subscriber(topics, division.get(name, {})) for name, topics in wishes.items()}


def owners(division: Division) -> dict[Owned, list[str]]:
    found: dict[Owned, list[str]] = {}
    for member_id, partitions in division.items():
        for topic_id, each in partitions.items():
            for at in each:
                found.setdefault((topic_id, at), []).append(member_id)
    return found


def sizes(division: Division) -> dict[str, int]:
    return {name: sum(len(each) for each in topics.values()) for name, topics in division.items()}


def moved(before: Division, after: Division) -> int:
    """Partitions that changed hands although their owner is still there."""
    old, new = owners(before), owners(after)
    return sum(1 for where in old if old[where][0] in after and new.get(where) != old[where])


both = frozenset({A, B})


def test_uniform_gives_all_members_equally_many() -> None:
    division = divide_uniformly(members(x=both, y=both, z=both), {A: 5, B: 3})
    assert sorted(sizes(division).values()) == [2, 3, 3]


def test_uniform_moves_only_what_a_new_member_gets() -> None:
    before = divide_uniformly(members(x=both, y=both), {A: 6, B: 6})
    after = divide_uniformly(again(before, x=both, y=both, z=both), {A: 6, B: 6})
    assert sizes(after) == {"x": 4, "y": 4, "z": 4}
    assert moved(before, after) == 4


def test_uniform_leaves_the_others_alone_when_a_member_goes() -> None:
    before = divide_uniformly(members(x=both, y=both, z=both), {A: 6, B: 6})
    after = divide_uniformly(again(before, x=both, y=both), {A: 6, B: 6})
    assert sizes(after) == {"x": 6, "y": 6}
    assert moved(before, after) == 0


def test_uniform_is_the_same_again_if_nothing_has_changed() -> None:
    before = divide_uniformly(members(x=both, y=both, z=both), {A: 7, B: 4})
    assert divide_uniformly(again(before, x=both, y=both, z=both), {A: 7, B: 4}) == before


def test_uniform_forgets_topics_that_are_gone_and_divides_partitions_that_came() -> None:
    before = divide_uniformly(members(x=both, y=both), {A: 4, B: 4})
    after = divide_uniformly(again(before, x=both, y=both), {A: 8})
    assert sizes(after) == {"x": 4, "y": 4}
    assert set(owners(after)) == {(A, at) for at in range(8)}


def test_uniform_balances_members_that_want_different_topics() -> None:
    wishes = {"x": frozenset({A}), "y": both, "z": frozenset({B})}
    division = divide_uniformly(members(**wishes), {A: 6, B: 6})
    assert sizes(division) == {"x": 4, "y": 4, "z": 4}


def test_uniform_gives_the_only_subscriber_of_a_topic_all_of_it() -> None:
    wishes = {"x": frozenset({A}), "y": both}
    division = divide_uniformly(members(**wishes), {A: 3, B: 9})
    assert sizes(division) == {"x": 3, "y": 9}


def test_range_gives_runs_and_the_same_ones_of_equal_topics() -> None:
    division = divide_by_range(members(x=both, y=both), {A: 3, B: 3})
    first, second = frozenset({0, 1}), frozenset({2})
    assert division == {"x": {A: first, B: first}, "y": {A: second, B: second}}


def test_range_puts_static_members_first_in_the_order_of_their_instances() -> None:
    subscribers = {
        "a": Subscriber(frozenset({A})),
        "z": Subscriber(frozenset({A}), instance_id="1"),
        "y": Subscriber(frozenset({A}), instance_id="2"),
    }
    division = divide_by_range(subscribers, {A: 3})
    assert [division[each][A] for each in "zya"] == [{0}, {1}, {2}]


def test_range_divides_each_topic_among_its_own_subscribers() -> None:
    wishes = {"x": frozenset({A}), "y": both, "z": frozenset({B})}
    division = divide_by_range(members(**wishes), {A: 3, B: 2})
    assert division == {
        "x": {A: frozenset({0, 1})},
        "y": {A: frozenset({2}), B: frozenset({0})},
        "z": {B: frozenset({1})},
    }


@pytest.mark.parametrize("name", ASSIGNORS)
def test_a_group_without_members_or_topics_is_divided_without_fuss(name: str) -> None:
    assert ASSIGNORS[name]({}, {A: 3}) == {}
    assert ASSIGNORS[name](members(x=frozenset()), {}) == {"x": {}}


topics = st.sampled_from([A, B, C])
wishes_of_members = st.dictionaries(
    st.sampled_from("uvwxyz"), st.frozensets(topics), min_size=1, max_size=6
)
counts_of_topics = st.fixed_dictionaries({A: st.integers(0, 9), B: st.integers(1, 9)})


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", ASSIGNORS)
@given(st.lists(st.tuples(wishes_of_members, counts_of_topics), min_size=1, max_size=4))
def test_every_subscribed_partition_has_exactly_one_owner_that_subscribes_to_it(
    name: str, history: list[tuple[dict[str, frozenset[bytes]], Mapping[bytes, int]]]
) -> None:
    division: Division = {}
    for wishes, counts in history:
        division = ASSIGNORS[name](again(division, **wishes), counts)
        assert division.keys() == wishes.keys()
        found = owners(division)
        wanted = {topic for each in wishes.values() for topic in each}
        assert set(found) == {(t, at) for t in wanted & counts.keys() for at in range(counts[t])}
        for (topic, _), names in found.items():
            assert len(names) == 1
            assert topic in wishes[names[0]]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(wishes_of_members, counts_of_topics), min_size=1, max_size=4))
def test_uniform_leaves_nothing_that_one_move_could_make_more_even(
    history: list[tuple[dict[str, frozenset[bytes]], Mapping[bytes, int]]],
) -> None:
    division: Division = {}
    for wishes, counts in history:
        division = divide_uniformly(again(division, **wishes), counts)
        size = sizes(division)
        for giver, partitions in division.items():
            for topic in partitions:
                takers = [size[each] for each in wishes if topic in wishes[each]]
                assert size[giver] - min(takers) <= 1


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.sampled_from("uvwxyz"), min_size=1),
    st.sets(st.sampled_from("uvwxyz"), min_size=1),
    st.integers(0, 20),
)
def test_uniform_moves_as_little_as_balance_allows(
    first: set[str], second: set[str], count: int
) -> None:
    one = frozenset({A})
    before = divide_uniformly(members(**dict.fromkeys(first, one)), {A: count})
    after = divide_uniformly(again(before, **dict.fromkeys(second, one)), {A: count})
    least, extra = divmod(count, len(second))
    kept = sorted((sizes(before)[each] for each in first & second), reverse=True)
    quotas = [least + (at < extra) for at in range(len(kept))]
    unavoidable = sum(max(0, size - quota) for size, quota in zip(kept, quotas, strict=True))
    assert moved(before, after) == unavoidable
