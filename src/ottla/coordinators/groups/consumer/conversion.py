"""Conversion between classic groups and consumer groups while members are active (KIP-848).

Upgrade    the first member that uses the consumer protocol converts a classic group to a consumer
group; the classic members stay, with their assignments.
Downgrade  when the last such member has left, the group becomes classic again and rebalances.

`group.consumer.migration.policy` defines which conversions are allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ottla.base.ids import TopicId
from ottla.coordinators.groups.assignors.division import Partitions
from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.classic.member import ClassicMember, select_protocol
from ottla.coordinators.groups.classic.rebalance import prepare_rebalance
from ottla.coordinators.groups.classic.stored import Generation, generation_record
from ottla.coordinators.groups.consumer.classic_members import (
    classic_side,
    policy_of,
    renew_session,
)
from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import ClassicSide, ConsumerMember, with_epoch
from ottla.coordinators.groups.consumer.records import (
    current_record,
    group_record,
    member_record,
    target_epoch_record,
    target_record,
)
from ottla.coordinators.groups.consumer.subscriptions import metadata_hash
from ottla.coordinators.groups.embedded_protocol import (
    CONSUMER_PROTOCOL,
    decode_assignment,
    decode_subscription,
    embedded_version,
    encode_assignment,
)
from ottla.coordinators.groups.shard_context import ShardContext
from ottla.coordinators.records import CoordinatorRecord
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, MalformedMessage

# An upgrade is one step and one batch, so its size is limited to keep the event loop responsive.
UPGRADE_ITEMS_MAX = 20_000  # topics of all members, plus `MEMBER_ITEMS` per member
MEMBER_ITEMS = 50  # cost of a member, in topics
UPGRADE_MEMBERS_MAX = UPGRADE_ITEMS_MAX // MEMBER_ITEMS
UPGRADING = ("upgrade", "bidirectional")


# Upgrade


def upgraded(classic: ClassicGroup, context: ShardContext) -> Draft:
    """The consumer group that replaces a classic group; BrokerError if that is not allowed."""
    check_upgrade(classic, context)
    group_id, generation = classic.group_id, classic.generation
    draft = Draft(ConsumerGroup(group_id), context, *classic.tombstones())
    members: list[ConsumerMember] = []
    items_max = UPGRADE_ITEMS_MAX - MEMBER_ITEMS * len(classic.members)
    try:
        for each in classic.members.values():
            member = upgraded_member(each, classic, context.image, items_max)
            items_max -= len(member.topics)
            members.append(member)
    except MalformedMessage as error:
        raise cannot_upgrade(group_id, "the embedded consumer protocol is malformed") from error
    targets = {each.member_id: assigned_to(each) for each in members}
    draft.put(*(member_record(group_id, each) for each in members))
    found = metadata_hash(draft.group.subscribed_topics(), context.image)
    draft.put(
        group_record(group_id, generation, found),
        *(target_record(group_id, *item) for item in targets.items()),
        target_epoch_record(group_id, generation, 0),
        *(current_record(group_id, each) for each in members),
    )
    context.when_written(lambda: begin_upgraded(classic, members))
    return draft


def begin_upgraded(classic: ClassicGroup, members: Iterable[ConsumerMember]) -> None:
    """Waiting members have to join again; sessions continue."""
    classic.membership.answer_all(ErrorCode.REBALANCE_IN_PROGRESS)
    for member in members:
        renew_session(classic.context, classic.group_id, member)


def check_upgrade(classic: ClassicGroup, context: ShardContext) -> None:
    if policy_of(context) not in UPGRADING:
        raise cannot_upgrade(classic.group_id, "online upgrade is disabled")
    if not classic.uses_consumer_protocol:
        reason = "the group does not use the consumer embedded protocol"
        raise cannot_upgrade(classic.group_id, reason)
    config = context.config
    size_max = min(config.group_consumer_max_size, UPGRADE_MEMBERS_MAX)
    if len(classic.members) > size_max:
        reason = "the group size exceeds the consumer group maximum size"
        raise cannot_upgrade(classic.group_id, reason)


def cannot_upgrade(group_id: str, reason: str) -> BrokerError:
    message = f"Cannot upgrade classic group {group_id} to consumer group because {reason}."
    return BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, message)


def upgraded_member(
    member: ClassicMember, group: ClassicGroup, image: Image, items_max: int
) -> ConsumerMember:
    """The member with its assignment; its generation becomes its epoch."""
    subscription = decode_subscription(member.metadata_or_first(group.protocol), max(items_max, 0))
    assigned = with_epoch(assigned_partitions(member, group.group_id, image), group.generation)
    return ConsumerMember(
        member.member_id,
        group.generation,
        group.generation,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=frozenset(subscription.topics),
        assigned=assigned,
        classic=ClassicSide(member.session_timeout_ms, member.protocols),
    )


def assigned_partitions(member: ClassicMember, group_id: str, image: Image) -> Partitions:
    if not member.assignment:
        return {}
    assignment = decode_assignment(member.assignment)
    if assignment.user_data:
        # A client-side assignor would lose its user data.
        raise cannot_upgrade(group_id, "an unsupported custom assignor is in use")
    partitions: dict[bytes, frozenset[int]] = {}
    for each in assignment.assigned_partitions:
        topic = image.topic(each.topic)
        if topic is not None:
            partitions[topic.id] = frozenset(each.partitions)
    return partitions


def assigned_to(member: ConsumerMember) -> Partitions:
    return {topic_id: frozenset(each) for topic_id, each in member.assigned.items()}


# Downgrade


def downgraded(
    group: ConsumerGroup, leaving: Collection[str], context: ShardContext
) -> list[CoordinatorRecord]:
    """The records of the classic group; its members have to join once they are written."""
    staying = [each for each in group.members.values() if each.member_id not in leaving]
    members = [downgraded_member(each) for each in staying]
    protocol = select_protocol(members)
    for member in members:
        version = version_of(member.metadata(protocol))
        target = named(group.target_of(member.member_id), context.image)
        member.assignment = encode_assignment(target, version)
    generation = Generation(group.epoch, CONSUMER_PROTOCOL, protocol, members[0].member_id)
    assignments = {each.member_id: each.assignment for each in members}
    return [
        *group.tombstones(),
        generation_record(group.group_id, generation, members, assignments, context.now_ms()),
    ]


def version_of(subscription: bytes) -> int:
    """The version in the metadata. Only that of the preferred protocol was parsed; others may be
    invalid."""
    try:
        return embedded_version(subscription)
    except MalformedMessage:
        return 0


def downgraded_member(member: ConsumerMember) -> ClassicMember:
    side = classic_side(member)
    return ClassicMember(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        side.session_timeout_ms,
        side.protocols,
    )


def named(partitions: Partitions, image: Image) -> dict[str, Iterable[int]]:
    found: dict[str, Iterable[int]] = {}
    for topic_id, each in partitions.items():
        topic = image.topic_by_id(TopicId(topic_id))
        if topic is not None:
            found[topic.name] = each
    return found


def begin_classic(
    classic: ClassicGroup, members: Iterable[ConsumerMember], *, must_rebalance: bool
) -> None:
    """The record has one protocol per member; restore all of them. Sessions continue."""
    for each in members:
        member = classic.members.get(each.member_id)
        if member is not None:
            classic.membership.update(member, classic_side(each).protocols)
            classic.membership.renew_session(member)
    if must_rebalance:
        prepare_rebalance(classic, "the last member that spoke the consumer protocol is gone")
