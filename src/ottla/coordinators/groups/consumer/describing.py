"""Responses that describe consumer groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.assignors.division import NO_PARTITIONS, Partitions
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

MEMBER_BYTES = 100  # fixed size in a response
TOPIC_BYTES = 24
PARTITION_BYTES = 4
CLASSIC_MEMBER = 0
CONSUMER_MEMBER = 1


def describing(group: ConsumerGroup, default_assignor: str, image: Image) -> Steps[DescribedGroup]:
    """A snapshot at the time of the call: members and targets are immutable."""
    described = DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=preferred_assignor(group, default_assignor),
    )
    targets, members = dict(group.target), []
    for each in list(group.members.values()):
        target = targets.get(each.member_id, NO_PARTITIONS)
        members.append(describe_member(each, target, image))
        yield MEMBER_BYTES + subscription_bytes(each) + assigned_bytes(members[-1])
    described.members = members
    return described


def subscription_bytes(member: ConsumerMember) -> int:
    return len(member.member_id) + len(member.regex) + sum(map(len, member.topics))


def assigned_bytes(member: Member) -> int:
    return sum(
        TOPIC_BYTES + len(topic.topic_name) + PARTITION_BYTES * len(topic.partitions)
        for assignment in (member.assignment, member.target_assignment)
        for topic in assignment.topic_partitions
    )


def describe_member(member: ConsumerMember, target: Partitions, image: Image) -> Member:
    """Partitions that it has yet to revoke still count as assigned."""
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
        assignment_of(target, image),
        CLASSIC_MEMBER if member.speaks_classic else CONSUMER_MEMBER,
    )


def assignment_of(partitions: Mapping[bytes, Collection[int]], image: Image) -> Assignment:
    """The assignment, for existing topics only: others have no name."""
    topics = []
    for topic_id in sorted(partitions):
        topic = image.topic_by_id(TopicId(topic_id))
        if topic is not None:
            topics.append(TopicPartitions(topic_id, topic.name, sorted(partitions[topic_id])))
    return Assignment(topics)
