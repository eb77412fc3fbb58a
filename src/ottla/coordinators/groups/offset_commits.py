"""Committing and deleting offsets: from requests to records.

Owns      the validation of offsets, and the records. Permission to commit is checked by the group.
Promises  one record per offset, in Kafka's format. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import NamedTuple

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.base.scheduling.step_scheduler import CHUNK_ITEMS
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.committed_offsets import NEVER, CommittedOffsets, OffsetName
from ottla.coordinators.groups.group import PartitionCheck
from ottla.coordinators.groups.record_types import (
    EXPIRING_OFFSET_VALUE_VERSION,
    OFFSET_VALUE_VERSION,
    tombstone,
)
from ottla.coordinators.records import CoordinatorRecord, CoordinatorResult
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
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

WriteRecords = Callable[[list[CoordinatorRecord]], object]  # appends and applies records
DEFAULT_RETENTION = -1
TOMBSTONES_MAX = 25  # per batch
# Per batch, once for each of its names: a tombstone removes the offset from each of them.
TRANSACTIONS_AT_ONCE = 5000
INT64_MAX = 2**63 - 1


class DeletedTopics(NamedTuple):
    """Deleted topics."""

    topic_ids: Mapping[str, Collection[TopicId]]  # by name
    # end offset of the shard's log at that time: later offsets without an id belong to a later
    # topic
    end_offset: int


class CommitRules(NamedTuple):
    group_id: str
    check: PartitionCheck | None
    metadata_length_max: int
    commit_ms: int
    expire_ms: int = NEVER
    only_known: CommittedOffsets | None = None  # set if there is no room for new offsets


def expiry_of(retention_ms: int, now_ms: int) -> int:
    """The expiration time of offsets committed with their own retention (versions up to 4)."""
    if retention_ms == DEFAULT_RETENTION:
        return NEVER
    return min(now_ms + retention_ms, INT64_MAX)


def decide_commit(
    rules: CommitRules, topics: Iterable[OffsetCommitRequestTopic]
) -> CoordinatorResult[OffsetCommitResponse]:
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
    return CoordinatorResult(records, OffsetCommitResponse(topics=answers))


def decide_transactional_commit(
    rules: CommitRules, topics: Iterable[tuple[TxnOffsetCommitRequestTopic, TopicId]]
) -> CoordinatorResult[TxnOffsetCommitResponse]:
    """The same for offsets that take effect when their transaction commits."""
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
    return CoordinatorResult(records, TxnOffsetCommitResponse(topics=answers))


def commit_one(
    rules: CommitRules,
    topic: str,
    topic_id: bytes,
    wanted: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition,
    records: list[CoordinatorRecord],
) -> ErrorCode:
    """Add the record of one offset, or return the error code."""
    metadata = wanted.committed_metadata or ""
    if len(metadata) > rules.metadata_length_max:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    if rules.check is not None:
        rules.check(topic_id, wanted.partition_index)
    name = OffsetName(rules.group_id, topic, wanted.partition_index)
    if rules.only_known is not None and rules.only_known.get(name) is None:
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    value = OffsetCommitValue(
        wanted.committed_offset,
        wanted.committed_leader_epoch,
        metadata,
        rules.commit_ms,
        rules.expire_ms,
        # Offsets of transactions have none, as in Kafka.
        topic_id if isinstance(wanted, OffsetCommitRequestPartition) else NO_TOPIC_ID,
    )
    records.append(offset_record(name, value))
    return ErrorCode.NONE


def offset_record(name: OffsetName, value: OffsetCommitValue) -> CoordinatorRecord:
    version = OFFSET_VALUE_VERSION
    if value.expire_timestamp != NEVER:
        version = EXPIRING_OFFSET_VALUE_VERSION
        value.leader_epoch, value.topic_id = -1, NO_TOPIC_ID  # not part of this version
    return CoordinatorRecord(OffsetCommitKey(*name), value, version)


def offset_tombstone(name: OffsetName) -> CoordinatorRecord:
    return tombstone(OffsetCommitKey(*name))


def is_known(offsets: CommittedOffsets, name: OffsetName) -> bool:
    return offsets.get(name) is not None or offsets.is_unstable(name)


def decide_delete_all(group_id: str, offsets: CommittedOffsets) -> list[CoordinatorRecord]:
    """Delete every offset of a group, including pending ones."""
    names = {
        OffsetName(group_id, topic, partition)
        for topic, partitions in offsets.partitions_of(group_id)
        for partition in partitions
    }
    return [offset_tombstone(name) for name in sorted(names)]


def forgetting(
    offsets: CommittedOffsets,
    names: Iterable[OffsetName],
    write: WriteRecords,
    is_unwanted: Callable[[OffsetName], bool] = lambda _name: True,
) -> Steps[None]:
    """Write tombstones of offsets, in slices: each is independent."""
    for some in batches_of(names, offsets):
        unwanted = (each for each in some if is_known(offsets, each) and is_unwanted(each))
        write([offset_tombstone(each) for each in unwanted])
        yield 0


def batches_of(
    names: Iterable[OffsetName], offsets: CommittedOffsets
) -> Iterator[list[OffsetName]]:
    """As many offsets as one batch may forget. Thousands of open transactions may have each."""
    some: list[OffsetName] = []
    transactions = 0
    for name in names:
        some.append(name)
        transactions += offsets.count_transactions(name.group_id, name.topic)
        if len(some) >= TOMBSTONES_MAX or transactions >= TRANSACTIONS_AT_ONCE:
            yield some
            some, transactions = [], 0
    if some:
        yield some


def forgetting_all(offsets: CommittedOffsets, group_id: str, write: WriteRecords) -> Steps[None]:
    """The same for all current offsets of a group."""
    for topic, partitions in offsets.partitions_of(group_id):
        names = (OffsetName(group_id, topic, each) for each in partitions)
        yield from forgetting(offsets, names, write)
        yield 0


def forgetting_topics(
    offsets: CommittedOffsets, deleted: DeletedTopics, write: WriteRecords
) -> Steps[None]:
    """The same for the offsets of deleted topics, unless they belong to a later topic with that
    name."""
    left = iter(deleted.topic_ids)
    while some := list(islice(left, CHUNK_ITEMS)):
        for topic in filter(offsets.has_topic, some):  # nearly always few
            yield from forgetting_topic(offsets, topic, deleted, write)
        yield 0


def forgetting_topic(
    offsets: CommittedOffsets, topic: str, deleted: DeletedTopics, write: WriteRecords
) -> Steps[None]:
    for names in offsets.names_of_topic(topic):
        is_unwanted = partial(is_of_deleted, offsets, deleted)
        yield from forgetting(offsets, names, write, is_unwanted)
        yield 0


def is_of_deleted(offsets: CommittedOffsets, deleted: DeletedTopics, name: OffsetName) -> bool:
    topic_ids = deleted.topic_ids[name.topic]
    return any(
        each.topic_id in topic_ids
        or (each.topic_id == NO_TOPIC_ID and each.record_offset < deleted.end_offset)
        for each in offsets.newest(name)
    )
