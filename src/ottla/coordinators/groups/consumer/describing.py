"""What tools are told about consumer groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ottla.base.ids import TopicId
from ottla.coordinators.groups.consumer.group import ConsumerGroup, held_by
from ottla.coordinators.groups.consumer.member import ConsumerMember
from ottla.coordinators.groups.consumer.targets import preferred_assignor
from ottla.metadata.image import Image
from ottla.protocol.messages.consumer_group_describe_response import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)

CLASSIC_MEMBER = 0
CONSUMER_MEMBER = 1


def describe(group: ConsumerGroup, default_assignor: str, image: Image) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=preferred_assignor(group, default_assignor),
        members=[describe_member(group, each, image) for each in group.members.values()],
    )


def describe_member(group: ConsumerGroup, member: ConsumerMember, image: Image) -> Member:
    """What it has yet to give up is still its own."""
    held: dict[bytes, set[int]] = {}
    for topic_id, partition in held_by(member):
        held.setdefault(topic_id, set()).add(partition)
    return Member(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.epoch,
        member.client_id,
        member.client_host,
        sorted(member.topics),
        member.regex,
        assignment_of(held, image),
        assignment_of(group.target_of(member.member_id), image),
        CLASSIC_MEMBER if member.speaks_classic else CONSUMER_MEMBER,
    )


def assignment_of(partitions: Mapping[bytes, Collection[int]], image: Image) -> Assignment:
    """Of topics that exist: others have no name."""
    topics = []
    for topic_id in sorted(partitions):
        topic = image.topic_by_id(TopicId(topic_id))
        if topic is not None:
            topics.append(TopicPartitions(topic_id, topic.name, sorted(partitions[topic_id])))
    return Assignment(topics)
