"""One step of a member towards its target, from any state: no partition has two owners."""

from __future__ import annotations

from random import Random

import pytest

from ottla.coordinators.groups.consumer.member import ConsumerMember, MemberState
from ottla.coordinators.groups.consumer.reconciliation import Goal, next_step

TOPICS = (b"t" * 16, b"u" * 16, b"v" * 16)
EPOCH = 7
Place = tuple[bytes, int]
ALL = [(topic_id, partition) for topic_id in TOPICS for partition in range(3)]


def some_of(rng: Random, places: list[Place]) -> set[Place]:
    return {each for each in places if rng.random() < 0.5}


def by_topic(places: set[Place]) -> dict[bytes, frozenset[int]]:
    return {
        topic_id: frozenset(at for topic, at in places if topic == topic_id)
        for topic_id, _ in places
    }


def with_epochs(places: set[Place], epoch: int) -> dict[bytes, dict[int, int]]:
    return {topic_id: dict.fromkeys(each, epoch) for topic_id, each in by_topic(places).items()}


def places_of(member: ConsumerMember) -> tuple[set[Place], set[Place]]:
    """What it was assigned, and what it has to give up."""
    assigned, revoking = (
        {(topic_id, at) for topic_id, each in some.items() for at in each}
        for some in (member.assigned, member.revoking)
    )
    return assigned, revoking


@pytest.mark.parametrize("seed", range(500))
def test_what_a_member_may_still_use_stays_its_own_and_what_others_have_is_not_given(
    seed: int,
) -> None:
    """Subscriptions change while partitions are given up, and members report partitions or not."""
    rng = Random(seed)
    state = rng.choice(list(MemberState)[:3])
    assigned = some_of(rng, ALL)
    is_revoking = state is MemberState.UNREVOKED_PARTITIONS
    revoking = (
        some_of(rng, [each for each in ALL if each not in assigned]) if is_revoking else set()
    )
    epochs = with_epochs(assigned, 3), with_epochs(revoking, 3)
    member = ConsumerMember("m", 5, 4, state, assigned=epochs[0], revoking=epochs[1])
    free = {each for each in ALL if each in assigned | revoking or rng.random() < 0.5}
    owned = None if rng.random() < 0.3 else some_of(rng, sorted(assigned | revoking))
    target, topics = some_of(rng, ALL), set(rng.sample(TOPICS, rng.randrange(4)))
    goal = Goal(rng.choice((5, EPOCH)), by_topic(target), topics, rng.random() < 0.5)
    reported = None if owned is None else by_topic(owned)
    moved = next_step(member, goal, reported, lambda *place: place in free)

    new_assigned, new_revoking = places_of(moved)
    may_use = assigned | revoking if owned is None else owned
    assert may_use <= new_assigned | new_revoking, "another member could get what it uses"
    gained = new_assigned - assigned
    assert gained <= free & target, "another member has it, or is to have it"
    assert not new_assigned & new_revoking
