"""Committing and deleting offsets: from requests to records.

Owns      what is checked of an offset itself, and the records. Who may commit says the group.
Promises  one record for each offset, in Kafka's bytes. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.coordinators.groups.committed_offsets import NEVER, CommittedOffsets, OffsetName
from ottla.coordinators.groups.group import Group, PartitionCheck
from ottla.coordinators.groups.record_types import (
    EXPIRING_OFFSET_VALUE_VERSION,
    OFFSET_VALUE_VERSION,
    tombstone,
)
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_commit_key import OffsetCommitKey
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.protocol.messages.offset_delete_request import OffsetDeleteRequestTopic
from ottla.protocol.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

A = TypeVar("A")
DEFAULT_RETENTION = -1
INT64_MAX = 2**63 - 1


class Decision(NamedTuple, Generic[A]):
    """Records to write, and what is answered when they are replicated."""

    records: list[CoordinatorRecord]
    answer: A


class CommitRules(NamedTuple):
    group_id: str
    check: PartitionCheck | None
    metadata_length_max: int
    commit_ms: int
    expire_ms: int = NEVER


def expiry_of(retention_ms: int, now_ms: int) -> int:
    """When offsets expire that were committed with a retention of their own (versions to 4)."""
    if retention_ms == DEFAULT_RETENTION:
        return NEVER
    return min(now_ms + retention_ms, INT64_MAX)


def decide_commit(
    rules: CommitRules, topics: Iterable[OffsetCommitRequestTopic]
) -> Decision[OffsetCommitResponse]:
    records: list[CoordinatorRecord] = []
    answers = []
    for topic in topics:
        partitions = [
            OffsetCommitResponsePartition(
                each.partition_index,
                commit_one(rules, topic.name, topic.topic_id, each, records),
            )
            for each in topic.partitions
        ]
        answers.append(OffsetCommitResponseTopic(topic.name, topic.topic_id, partitions))
    return Decision(records, OffsetCommitResponse(topics=answers))


def decide_transactional_commit(
    rules: CommitRules, topics: Iterable[tuple[TxnOffsetCommitRequestTopic, TopicId]]
) -> Decision[TxnOffsetCommitResponse]:
    """The same for offsets that count only when their transaction commits."""
    records: list[CoordinatorRecord] = []
    answers = []
    for topic, topic_id in topics:
        partitions = [
            TxnOffsetCommitResponsePartition(
                each.partition_index, commit_one(rules, topic.name, topic_id, each, records)
            )
            for each in topic.partitions
        ]
        answers.append(TxnOffsetCommitResponseTopic(topic.name, partitions))
    return Decision(records, TxnOffsetCommitResponse(topics=answers))


def commit_one(
    rules: CommitRules,
    topic: str,
    topic_id: bytes,
    wanted: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition,
    records: list[CoordinatorRecord],
) -> ErrorCode:
    """Add the record of one offset, or say why there is none."""
    metadata = wanted.committed_metadata or ""
    if len(metadata) > rules.metadata_length_max:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    if rules.check is not None:
        rules.check(topic_id, wanted.partition_index)
    value = OffsetCommitValue(
        wanted.committed_offset,
        wanted.committed_leader_epoch,
        metadata,
        rules.commit_ms,
        rules.expire_ms,
        # A transaction's offsets carry none, as in Kafka, whose records say so.
        topic_id if isinstance(wanted, OffsetCommitRequestPartition) else NO_TOPIC_ID,
    )
    name = OffsetName(rules.group_id, topic, wanted.partition_index)
    records.append(offset_record(name, value))
    return ErrorCode.NONE


def offset_record(name: OffsetName, value: OffsetCommitValue) -> CoordinatorRecord:
    version = OFFSET_VALUE_VERSION
    if value.expire_timestamp != NEVER:
        version = EXPIRING_OFFSET_VALUE_VERSION
        value.leader_epoch, value.topic_id = -1, NO_TOPIC_ID  # it has no room for them
    return CoordinatorRecord(OffsetCommitKey(*name), value, version)


def offset_tombstone(name: OffsetName) -> CoordinatorRecord:
    return tombstone(OffsetCommitKey(*name))


def decide_delete(
    group: Group, offsets: CommittedOffsets, topics: Iterable[OffsetDeleteRequestTopic]
) -> Decision[OffsetDeleteResponse]:
    """Forget single offsets, except of topics that the group is subscribed to."""
    group.check_offset_delete()
    records = []
    answers = []
    for topic in topics:
        is_used = group.is_subscribed(topic.name)
        code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_used else ErrorCode.NONE
        partitions = [
            OffsetDeleteResponsePartition(each.partition_index, code) for each in topic.partitions
        ]
        answers.append(OffsetDeleteResponseTopic(topic.name, partitions))
        names = (
            OffsetName(group.group_id, topic.name, p.partition_index) for p in topic.partitions
        )
        if not is_used:
            records += [offset_tombstone(n) for n in names if is_known(offsets, n)]
    return Decision(records, OffsetDeleteResponse(topics=answers))


def is_known(offsets: CommittedOffsets, name: OffsetName) -> bool:
    return offsets.get(name) is not None or offsets.is_unstable(name)


def decide_delete_all(group_id: str, offsets: CommittedOffsets) -> list[CoordinatorRecord]:
    """Forget every offset of a group, pending ones included."""
    names = set(names_of(group_id, offsets)) | set(offsets.unstable_of(group_id))
    return [offset_tombstone(name) for name in sorted(names)]


def names_of(group_id: str, offsets: CommittedOffsets) -> Iterator[OffsetName]:
    for topic, partitions in offsets.of_group(group_id).items():
        for partition in partitions:
            yield OffsetName(group_id, topic, partition)


def decide_forget_topics(
    offsets: CommittedOffsets, deleted: Mapping[str, Collection[TopicId]]
) -> list[CoordinatorRecord]:
    """The offsets of topics that were deleted, unless they belong to a later topic of that name."""
    names = {
        name
        for name, offset in offsets.of_topics(deleted)
        if offset.topic_id == NO_TOPIC_ID or offset.topic_id in deleted[name.topic]
    }
    return [offset_tombstone(name) for name in sorted(names)]
