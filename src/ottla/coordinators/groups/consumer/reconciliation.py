"""Moves a member from its current to its target assignment, one safe step per heartbeat.

    Stable -> UnrevokedPartitions -> UnreleasedPartitions -> Stable

A member first revokes partitions that are not in its target, and stays in its epoch until it
confirms that. Then it moves to the epoch of the target, and is assigned each partition once no
other member holds it. So a partition is never assigned to two members at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import replace
from typing import NamedTuple

from ottla.coordinators.groups.assignors.division import Partitions
from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.member import Assigned, ConsumerMember, MemberState
from ottla.coordinators.groups.consumer.targets import topic_ids
from ottla.coordinators.groups.shard_context import Deadline, TimerKind
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

# The partitions that a member reports, by topic id; None if it reports none.
Owned = Mapping[bytes, Collection[int]] | None


class Goal(NamedTuple):
    """The target of a member."""

    epoch: int
    target: Partitions
    topics: Set[bytes]  # current subscription, which may be newer than the target
    has_new_subscription: bool = False


def reconcile(draft: Draft, member_id: str, owned: Owned, *, has_new_subscription: bool) -> None:
    """Move a member towards its target as far as possible now."""
    group = draft.group
    member = group.members[member_id]
    if not has_new_subscription and member.is_at(group.target_epoch):
        return
    goal = Goal(
        group.target_epoch,
        group.target_of(member_id),
        topic_ids(group, member, draft.context.image),
        has_new_subscription,
    )

    def is_free(topic_id: bytes, partition: int) -> bool:
        return group.holder_of(topic_id, partition) in (None, member_id)

    moved = next_step(member, goal, owned, is_free)
    if moved != member:
        draft.save_assignment(moved)
        if not moved.speaks_classic:
            draft.context.when_written(lambda: watch_revocation(draft, moved))


def watch_revocation(draft: Draft, member: ConsumerMember) -> None:
    """A member must revoke partitions within its rebalance timeout."""
    deadline = Deadline(draft.group_id, TimerKind.REVOCATION, member.member_id)
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        draft.context.timers.start(deadline, member.rebalance_timeout_ms)
    else:
        draft.context.timers.cancel(deadline)


def next_step(
    member: ConsumerMember, goal: Goal, owned: Owned, is_free: Callable[[bytes, int], bool]
) -> ConsumerMember:
    match member.state:
        case MemberState.STABLE:
            if member.epoch != goal.epoch:
                return approach(member, goal, owned, is_free)
            return drop_unsubscribed(member, goal, owned)
        case MemberState.UNREVOKED_PARTITIONS:
            if still_owns(member.revoking, owned):
                return drop_unsubscribed(member, goal, owned)
            return approach(member, goal, owned, is_free)
        case MemberState.UNRELEASED_PARTITIONS:
            return approach(member, goal, owned, is_free)
        case _:
            # Written by a later version: start over, because the member's partitions are unknown.
            if owned is None or owned:
                raise BrokerError(ErrorCode.FENCED_MEMBER_EPOCH)
            return approach(replace(member, epoch=goal.epoch), goal, owned, is_free)


def still_owns(revoking: Assigned, owned: Owned) -> bool:
    """Whether a member has yet to revoke partitions; assumed if it does not report."""
    if owned is None:
        return True
    return any(at in revoking.get(topic_id, ()) for topic_id, each in owned.items() for at in each)


def approach(
    member: ConsumerMember, goal: Goal, owned: Owned, is_free: Callable[[bytes, int], bool]
) -> ConsumerMember:
    """Revoke first, then assign free partitions."""
    target = {each: goal.target[each] for each in goal.target if each in goal.topics}
    kept = intersection(member.assigned, target)
    revoking = difference(member.assigned, target)
    if revoking and still_owns(revoking, owned):
        state = MemberState.UNREVOKED_PARTITIONS
        return member.moved_to(member.epoch, state, kept, revoking)
    has_all = True
    for topic_id, partitions in target.items():
        for partition in partitions - kept.get(topic_id, {}).keys():
            if is_free(topic_id, partition):
                kept.setdefault(topic_id, {})[partition] = goal.epoch
            else:
                has_all = False
    state = MemberState.STABLE if has_all else MemberState.UNRELEASED_PARTITIONS
    return member.moved_to(goal.epoch, state, kept)


def drop_unsubscribed(member: ConsumerMember, goal: Goal, owned: Owned) -> ConsumerMember:
    """The target may be outdated: remove partitions of topics that the member is not subscribed
    to."""
    unsubscribed = {
        each: member.assigned[each] for each in member.assigned if each not in goal.topics
    }
    if not goal.has_new_subscription or not unsubscribed:
        return member
    kept = {each: member.assigned[each] for each in member.assigned if each in goal.topics}
    revoking = merge(member.revoking, unsubscribed)
    if still_owns(revoking, owned):
        return member.moved_to(member.epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoking)
    return member.moved_to(member.epoch, member.state, kept, member.revoking)


# Sets of partitions


def intersection(assigned: Assigned, target: Partitions) -> dict[bytes, dict[int, int]]:
    both = {
        topic_id: {at: epoch for at, epoch in each.items() if at in target.get(topic_id, ())}
        for topic_id, each in assigned.items()
    }
    return {topic_id: each for topic_id, each in both.items() if each}


def difference(assigned: Assigned, target: Partitions) -> dict[bytes, dict[int, int]]:
    rest = {
        topic_id: {at: epoch for at, epoch in each.items() if at not in target.get(topic_id, ())}
        for topic_id, each in assigned.items()
    }
    return {topic_id: each for topic_id, each in rest.items() if each}


def merge(one: Assigned, other: Assigned) -> Assigned:
    return {
        topic_id: {**one.get(topic_id, {}), **other.get(topic_id, {})}
        for topic_id in one.keys() | other.keys()
    }
