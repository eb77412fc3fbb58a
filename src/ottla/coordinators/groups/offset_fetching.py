"""Reading committed offsets.

With `require_stable`, an offset with a pending change is not returned: the client has to retry
(UNSTABLE_OFFSET_COMMIT). An offset of a deleted topic with the same name is not returned either, if
both topic ids are known. The whole response is one snapshot, and is built in slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.base.ids import NO_LEADER_EPOCH, NO_OFFSET, NO_TOPIC_ID
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.committed_offsets import (
    CommittedOffset,
    CommittedOffsets,
    GroupOffsets,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestTopics
from ottla.protocol.messages.offset_fetch_response import (
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

NAMED_MAX = 100  # topics that are copied individually; for more, the whole group is
PARTITIONS_IN_SLICE = 16  # between two yields
TOPIC_BYTES = 24  # of a response, without the name
PARTITION_BYTES = 24  # without the metadata
_NO_PARTITIONS: Mapping[int, CommittedOffset] = {}

FetchedTopics = list[OffsetFetchResponseTopics]


def snapshot(
    offsets: CommittedOffsets, group_id: str, topics: Sequence[OffsetFetchRequestTopics]
) -> GroupOffsets:
    named = {each.name for each in topics} if len(topics) <= NAMED_MAX else None
    return offsets.snapshot(group_id, named)


def fetching(
    known: GroupOffsets, topics: Sequence[OffsetFetchRequestTopics], require_stable: bool
) -> Steps[FetchedTopics]:
    """The requested offsets; -1 for a partition without one."""
    answers = []
    for topic in topics:
        by_partition = known.by_topic.get(topic.name, _NO_PARTITIONS)
        partitions: list[OffsetFetchResponsePartitions] = []
        grown = TOPIC_BYTES + len(topic.name)
        for index in topic.partition_indexes:
            if require_stable and known.is_unstable(topic.name, index):
                answer = unstable(index)
            else:
                answer = answer_of(index, by_partition.get(index), topic.topic_id)
            partitions.append(answer)
            grown += PARTITION_BYTES + len(answer.metadata or "")
            if not len(partitions) % PARTITIONS_IN_SLICE:
                yield grown
                grown = 0
        yield grown
        answers.append(OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions))
    return answers


def fetching_all(known: GroupOffsets, require_stable: bool) -> Steps[FetchedTopics]:
    answers = []
    for topic, committed in known.by_topic.items():
        partitions = []
        yield TOPIC_BYTES + len(topic)
        for index, offset in committed.items():
            if require_stable and known.is_unstable(topic, index):
                answer = unstable(index)
            else:
                answer = answer_of(index, offset, NO_TOPIC_ID)
            partitions.append(answer)
            yield PARTITION_BYTES + len(answer.metadata or "")
        answers.append(OffsetFetchResponseTopics(topic, NO_TOPIC_ID, partitions))
    return answers


def answer_of(
    index: int, committed: CommittedOffset | None, topic_id: bytes
) -> OffsetFetchResponsePartitions:
    if committed is None or is_of_another_topic(committed.topic_id, topic_id):
        return OffsetFetchResponsePartitions(index, NO_OFFSET, NO_LEADER_EPOCH, "")
    return OffsetFetchResponsePartitions(
        index, committed.offset, committed.leader_epoch, committed.metadata
    )


def is_of_another_topic(known: bytes, asked: bytes) -> bool:
    return NO_TOPIC_ID not in (known, asked) and known != asked


def unstable(index: int) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        index, NO_OFFSET, NO_LEADER_EPOCH, "", ErrorCode.UNSTABLE_OFFSET_COMMIT
    )
