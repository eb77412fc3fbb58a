"""The records of consumer groups: encoding and decoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ottla.coordinators.groups.assignors.division import Partitions
from ottla.coordinators.groups.classic.member import OfferedProtocol
from ottla.coordinators.groups.consumer.kinds import (
    ClassicMemberMetadata,
    ClassicProtocol,
    CurrentKey,
    CurrentValue,
    GroupKey,
    GroupValue,
    MemberKey,
    MemberValue,
    PartitionMetadataKey,
    RegexKey,
    RegexValue,
    TargetEpochKey,
    TargetEpochValue,
    TargetKey,
    TargetValue,
    TopicPartition,
)
from ottla.coordinators.groups.consumer.member import (
    Assigned,
    ClassicSide,
    ConsumerMember,
    MemberState,
)
from ottla.coordinators.groups.record_types import tombstone
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.messages import consumer_group_current_member_assignment_value as current_value

# Group


def group_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    return CoordinatorRecord(GroupKey(group_id), GroupValue(epoch, metadata_hash))


def target_epoch_record(group_id: str, epoch: int, assigned_ms: int) -> CoordinatorRecord:
    return CoordinatorRecord(TargetEpochKey(group_id), TargetEpochValue(epoch, assigned_ms))


def target_record(group_id: str, member_id: str, target: Partitions) -> CoordinatorRecord:
    topics = [TopicPartition(topic_id, sorted(target[topic_id])) for topic_id in sorted(target)]
    return CoordinatorRecord(TargetKey(group_id, member_id), TargetValue(topics))


def regex_record(
    group_id: str, regex: str, topics: Iterable[str], version: int, resolved_ms: int
) -> CoordinatorRecord:
    value = RegexValue(sorted(topics), version, resolved_ms)
    return CoordinatorRecord(RegexKey(group_id, regex), value)


def regex_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    return tombstone(RegexKey(group_id, regex))


def partition_metadata_tombstone(group_id: str) -> CoordinatorRecord:
    return tombstone(PartitionMetadataKey(group_id))


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    return [
        tombstone(CurrentKey(group_id, member_id)),
        tombstone(TargetKey(group_id, member_id)),
        tombstone(MemberKey(group_id, member_id)),
    ]


def group_tombstones(
    group_id: str, member_ids: Sequence[str], regexes: Iterable[str]
) -> list[CoordinatorRecord]:
    """The tombstones that delete a group. Kafka checks their order when it reads them."""
    return [
        *(tombstone(CurrentKey(group_id, each)) for each in member_ids),
        *(tombstone(TargetKey(group_id, each)) for each in member_ids),
        tombstone(TargetEpochKey(group_id)),
        *(tombstone(MemberKey(group_id, each)) for each in member_ids),
        *(regex_tombstone(group_id, each) for each in regexes),
        partition_metadata_tombstone(group_id),
        tombstone(GroupKey(group_id)),
    ]


# Members


def member_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    classic = member.classic
    value = MemberValue(
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        sorted(member.topics),
        member.regex,
        member.rebalance_timeout_ms,
        member.assignor,
        None
        if classic is None
        else ClassicMemberMetadata(
            classic.session_timeout_ms,
            [ClassicProtocol(each.name, each.metadata) for each in classic.protocols],
        ),
    )
    return CoordinatorRecord(MemberKey(group_id, member.member_id), value)


def with_metadata(member: ConsumerMember, value: MemberValue) -> ConsumerMember:
    classic = value.classic_member_metadata
    return replace(
        member,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=frozenset(value.subscribed_topic_names),
        regex=value.subscribed_topic_regex or "",
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        assignor=value.server_assignor,
        classic=None if classic is None else classic_side(classic),
    )


def classic_side(stored: ClassicMemberMetadata) -> ClassicSide:
    protocols = (OfferedProtocol(each.name, each.metadata) for each in stored.supported_protocols)
    return ClassicSide(stored.session_timeout_ms, tuple(protocols))


def current_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    value = CurrentValue(
        member.epoch,
        member.previous_epoch,
        member.state,
        as_stored(member.assigned),
        as_stored(member.revoking),
    )
    return CoordinatorRecord(CurrentKey(group_id, member.member_id), value)


def with_assignment(member: ConsumerMember, value: CurrentValue) -> ConsumerMember:
    known = value.state in MemberState.__members__.values()
    return replace(
        member,
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=MemberState(value.state) if known else MemberState.UNKNOWN,
        assigned=from_stored(value.assigned_partitions, value.member_epoch),
        revoking=from_stored(value.partitions_pending_revocation, value.member_epoch),
    )


def as_stored(assigned: Assigned) -> list[current_value.TopicPartitions]:
    stored = []
    for topic_id in sorted(assigned):
        partitions = sorted(assigned[topic_id])
        epochs = [assigned[topic_id][each] for each in partitions]
        stored.append(current_value.TopicPartitions(topic_id, partitions, epochs))
    return stored


def from_stored(stored: Iterable[current_value.TopicPartitions], member_epoch: int) -> Assigned:
    """Older brokers stored no epochs; then the partitions have the member's epoch."""
    assigned: dict[bytes, dict[int, int]] = {}
    for each in stored:
        epochs = each.assignment_epochs or ()
        if len(epochs) != len(each.partitions):
            epochs = [max(member_epoch, 0)] * len(each.partitions)
        assigned[each.topic_id] = dict(zip(each.partitions, epochs, strict=True))
    return assigned


def target_from(value: TargetValue) -> Partitions:
    return {each.topic_id: frozenset(each.partitions) for each in value.topic_partitions}
