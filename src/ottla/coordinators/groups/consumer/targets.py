"""The target assignment: what each member is meant to have in an epoch of the group.

Computed when the group's epoch is ahead of the target's, but at most once in an interval, so that a
group whose members come one after the other does not move partitions with each of them (KIP-1263).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ottla.base.ids import TopicId
from ottla.coordinators.groups.assignors import ASSIGNORS
from ottla.coordinators.groups.assignors.division import Subscriber
from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import ConsumerMember
from ottla.coordinators.groups.consumer.records import target_epoch_record, target_record
from ottla.metadata.image import Image


def update_target(draft: Draft) -> None:
    group, shared = draft.group, draft.shared
    now_ms = shared.now_ms()
    interval_ms = shared.group_config(group.group_id).consumer_assignment_interval_ms
    if group.target_epoch >= group.epoch or not may_assign(group, interval_ms, now_ms):
        return
    subscribers = {
        each.member_id: subscriber_of(group, each, shared.image) for each in group.members.values()
    }
    counts = partition_counts(subscribers.values(), shared.image)
    divide = ASSIGNORS[preferred_assignor(group, shared.config.group_consumer_assignors[0])]
    for member_id, target in divide(subscribers, counts).items():
        if group.target.get(member_id) != target:
            draft.put(target_record(group.group_id, member_id, target))
    draft.put(target_epoch_record(group.group_id, group.epoch, now_ms))


def may_assign(group: ConsumerGroup, interval_ms: int, now_ms: int) -> bool:
    """A first target is computed at once, and one whose age is not known."""
    return group.assigned_ms == 0 or interval_ms == 0 or now_ms >= group.assigned_ms + interval_ms


def preferred_assignor(group: ConsumerGroup, default: str) -> str:
    """The one that most members ask for."""
    asked = Counter(each.assignor for each in group.members.values() if each.assignor)
    return asked.most_common(1)[0][0] if asked else default


def subscriber_of(group: ConsumerGroup, member: ConsumerMember, image: Image) -> Subscriber:
    return Subscriber(
        topic_ids(group, member, image), group.target_of(member.member_id), member.instance_id
    )


def topic_ids(group: ConsumerGroup, member: ConsumerMember, image: Image) -> frozenset[bytes]:
    """The topics of a member that exist."""
    found = (image.topic(name) for name in group.topics_of(member))
    return frozenset(topic.id for topic in found if topic is not None)


def partition_counts(subscribers: Iterable[Subscriber], image: Image) -> dict[bytes, int]:
    wanted = {topic_id for each in subscribers for topic_id in each.topics}
    found = (image.topic_by_id(TopicId(topic_id)) for topic_id in sorted(wanted))
    return {topic.id: len(topic.partitions) for topic in found if topic is not None}
