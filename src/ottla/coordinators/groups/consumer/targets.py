"""The target assignment of a group in an epoch.

Computed when the group's epoch is ahead of the target's, but at most once in an interval, so that a
group whose members join one after another does not move partitions for each (KIP-1263).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.coordinators.groups.assignors import ASSIGNORS
from ottla.coordinators.groups.assignors.division import NO_PARTITIONS, Division, Subscriber
from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import ConsumerMember
from ottla.coordinators.groups.consumer.records import target_epoch_record, target_record
from ottla.metadata.image import Image

# For a larger group the target is computed in a thread, and sent with later heartbeats.
MEMBERS_AT_ONCE = 100
TOPICS_AT_ONCE = 200
PARTITIONS_AT_ONCE = 2000


def update_target(draft: Draft) -> None:
    group, context = draft.group, draft.context
    now_ms = context.now_ms()
    interval_ms = context.group_config(group.group_id).consumer_assignment_interval_ms
    if group.target_epoch >= group.epoch or not may_assign(group, interval_ms, now_ms):
        return
    if is_large(group, context.image):
        want_target(draft)
        return
    plan = run_blocking(planning(group, context.image, context.config.group_consumer_assignors[0]))
    for member_id, target in plan.divide().items():
        if group.target.get(member_id) != target:
            draft.put(target_record(group.group_id, member_id, target))
    draft.put(target_epoch_record(group.group_id, group.epoch, now_ms))


def is_large(group: ConsumerGroup, image: Image) -> bool:
    if len(group.members) > MEMBERS_AT_ONCE or len(group.subscriptions) > TOPICS_AT_ONCE:
        return True
    topics = (image.topic(name) for name in group.subscriptions)
    partitions = sum(len(topic.partitions) for topic in topics if topic is not None)
    return partitions > PARTITIONS_AT_ONCE


def want_target(draft: Draft) -> None:
    context, group_id = draft.context, draft.group_id
    if group_id not in context.assigning:
        context.when_written(lambda: context.unassigned.add(group_id))


class TargetPlan(NamedTuple):
    """The input of a target assignment: immutable, so that it can be computed in a thread."""

    epoch: int
    assignor: str
    subscribers: dict[str, Subscriber]
    partition_counts: dict[bytes, int]

    def divide(self) -> Division:
        return ASSIGNORS[self.assignor](self.subscribers, self.partition_counts)


def planning(group: ConsumerGroup, image: Image, default_assignor: str) -> Steps[TargetPlan]:
    """A target assignment for the group's epoch at the start of the call."""
    epoch, targets = group.epoch, dict(group.target)
    assignor = preferred_assignor(group, default_assignor)
    resolved: dict[
        tuple[frozenset[str], str], frozenset[bytes]
    ] = {}  # most subscriptions are equal
    subscribers, wanted = {}, set[bytes]()
    for member in list(group.members.values()):
        subscribed = member.topics, member.regex
        topics = resolved.get(subscribed)
        if topics is None:
            topics = resolved[subscribed] = topic_ids(group, member, image)
            wanted |= topics
        current = targets.get(member.member_id, NO_PARTITIONS)
        subscribers[member.member_id] = Subscriber(topics, current, member.instance_id)
        yield 0
    counts: dict[bytes, int] = {}
    for topic_id in sorted(wanted):
        topic = image.topic_by_id(TopicId(topic_id))
        if topic is not None:
            counts[topic_id] = len(topic.partitions)
        yield 0
    return TargetPlan(epoch, assignor, subscribers, counts)


def may_assign(group: ConsumerGroup, interval_ms: int, now_ms: int) -> bool:
    """A first target, and one of unknown age, is computed at once."""
    return group.assigned_ms == 0 or interval_ms == 0 or now_ms >= group.assigned_ms + interval_ms


def preferred_assignor(group: ConsumerGroup, default: str) -> str:
    """The assignor that most members request."""
    requested = Counter(each.assignor for each in group.members.values() if each.assignor)
    return requested.most_common(1)[0][0] if requested else default


def topic_ids(group: ConsumerGroup, member: ConsumerMember, image: Image) -> frozenset[bytes]:
    """The existing topics of a member's subscription."""
    known = image.topics
    return frozenset(known[name].id for name in group.topics_of(member) & known.keys())
