"""Commits of many offsets: validated and encoded in slices, then written as one batch.

Promises  a draft that would exceed one batch is rejected early. Writing it is one synchronous
          operation, with only C code per offset: everything else is prepared.
Leaves    to the caller to validate against the group again before the draft is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import add
from typing import NamedTuple

from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.batches import RECORD_BYTES, BatchFormat, Writer
from ottla.coordinators.groups.committed_offsets import (
    CommittedOffset,
    CommittedOffsets,
    from_record,
)
from ottla.coordinators.groups.group import PartitionCheck
from ottla.coordinators.groups.offset_commits import CommitRules, commit_one
from ottla.coordinators.groups.offset_fetching import is_of_another_topic
from ottla.coordinators.records import CoordinatorRecord, encode_key, encode_value
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
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
from ottla.protocol.records.batch import HEADER_BYTES
from ottla.protocol.records.record import Record

ANSWER_BYTES = 8  # of one partition in the response

_new_offset = partial(tuple.__new__, CommittedOffset)


class TopicDraft(NamedTuple):
    """The offsets of one topic, as parallel lists."""

    topic_id: bytes
    partitions: list[int]
    offsets: list[tuple[object, ...]]  # all stored fields except the last
    relative_offsets: list[int]  # of the records in the batch


class CommitDraft:
    def __init__(self, rules: CommitRules, bytes_max: int) -> None:
        self.rules = rules
        self._bytes_max = bytes_max
        self._size = HEADER_BYTES
        self._rows: list[Record] = []
        self._topics: dict[str, TopicDraft] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def put(
        self,
        topic: str,
        topic_id: bytes,
        wanted: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition,
    ) -> ErrorCode:
        """Add one offset, or return the error code."""
        records: list[CoordinatorRecord] = []
        code = commit_one(self.rules, topic, topic_id, wanted, records)
        for record in records:
            self._put(topic, topic_id, wanted.partition_index, record)
        return code

    def _put(self, topic: str, topic_id: bytes, partition: int, record: CoordinatorRecord) -> None:
        key, value = encode_key(record.key), encode_value(record) or b""
        self._size += RECORD_BYTES + len(key) + len(value)
        if self._size > self._bytes_max:
            what = f"the offsets do not fit into one batch of {self._bytes_max} bytes"
            raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, what)
        assert isinstance(record.value, OffsetCommitValue)
        relative_offset = len(self._rows)
        self._rows.append(Record(relative_offset, self.rules.commit_ms, key, value, ()))
        draft = self._topics.get(topic)
        if draft is None:
            draft = self._topics[topic] = TopicDraft(topic_id, [], [], [])
        draft.partitions.append(partition)
        draft.offsets.append(from_record(record.value, 0)[:-1])
        draft.relative_offsets.append(relative_offset)

    def check_again(self, check: PartitionCheck | None) -> None:
        """BrokerError if the member may no longer commit some of these."""
        if check is not None:
            for draft in self._topics.values():
                for partition in draft.partitions:
                    check(draft.topic_id, partition)

    def check_topics(self, image: Image) -> None:
        """BrokerError if a topic was deleted: a later topic of its name would have its offsets."""
        for name, draft in self._topics.items():
            topic = image.topic(name)
            if topic is None or is_of_another_topic(draft.topic_id, topic.id):
                raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{name} was deleted")

    def encode(self, writer: Writer, batch_format: BatchFormat) -> bytearray:
        """The batch. May run in any thread."""
        return batch_format.build(self._rows, writer)

    def apply(self, offsets: CommittedOffsets, producer_id: int, first_offset: int) -> None:
        """The batch was written: apply its records."""
        for topic, draft in self._topics.items():
            record_offsets = zip(
                map(first_offset.__add__, draft.relative_offsets)
            )  # one-element tuples
            stored = map(_new_offset, map(add, draft.offsets, record_offsets))
            committed = dict(zip(draft.partitions, stored, strict=True))
            offsets.put(self.rules.group_id, topic, committed, producer_id)


def drafting_commit(
    draft: CommitDraft, topics: Iterable[OffsetCommitRequestTopic]
) -> Steps[OffsetCommitResponse]:
    """Add the offsets; returns the response for the case that they are written."""
    answers = []
    for topic in topics:
        partitions = []
        for each in topic.partitions:
            code = draft.put(topic.name, topic.topic_id, each)
            partitions.append(OffsetCommitResponsePartition(each.partition_index, code))
            yield ANSWER_BYTES
        answers.append(OffsetCommitResponseTopic(topic.name, topic.topic_id, partitions))
        yield ANSWER_BYTES + len(topic.name)
    return OffsetCommitResponse(topics=answers)


def drafting_transactional_commit(
    draft: CommitDraft, topics: Iterable[tuple[TxnOffsetCommitRequestTopic, TopicId]]
) -> Steps[TxnOffsetCommitResponse]:
    """The same for offsets that take effect when their transaction commits."""
    answers = []
    for topic, topic_id in topics:
        partitions = []
        for each in topic.partitions:
            code = draft.put(topic.name, topic_id, each)
            partitions.append(TxnOffsetCommitResponsePartition(each.partition_index, code))
            yield ANSWER_BYTES
        answers.append(TxnOffsetCommitResponseTopic(topic.name, partitions))
        yield ANSWER_BYTES + len(topic.name)
    return TxnOffsetCommitResponse(topics=answers)
