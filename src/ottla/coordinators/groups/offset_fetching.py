"""Reading committed offsets.

With `require_stable`, an offset that an open transaction may change is not told: the reader is
asked to come again (UNSTABLE_OFFSET_COMMIT). An offset of a topic's namesake that was deleted is
not told either, where both topic ids are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ottla.base.ids import NO_TOPIC_ID
from ottla.coordinators.groups.committed_offsets import (
    CommittedOffset,
    CommittedOffsets,
    OffsetName,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestTopics
from ottla.protocol.messages.offset_fetch_response import (
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

NO_OFFSET = -1
NO_LEADER_EPOCH = -1
_NO_PARTITIONS: Mapping[int, CommittedOffset] = {}


def fetch_offsets(
    offsets: CommittedOffsets,
    group_id: str,
    topics: Iterable[OffsetFetchRequestTopics],
    require_stable: bool,
) -> list[OffsetFetchResponseTopics]:
    """The offsets that were asked for; a partition without one is answered with -1."""
    known = offsets.of_group(group_id)
    answers = []
    for topic in topics:
        by_partition = known.get(topic.name, _NO_PARTITIONS)
        partitions = []
        for index in topic.partition_indexes:
            if require_stable and offsets.is_unstable(OffsetName(group_id, topic.name, index)):
                partitions.append(unstable(index))
            else:
                partitions.append(answer_of(index, by_partition.get(index), topic.topic_id))
        answers.append(OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions))
    return answers


def fetch_all_offsets(
    offsets: CommittedOffsets, group_id: str, require_stable: bool
) -> list[OffsetFetchResponseTopics]:
    return [
        OffsetFetchResponseTopics(
            topic,
            NO_TOPIC_ID,
            [
                unstable(index)
                if require_stable and offsets.is_unstable(OffsetName(group_id, topic, index))
                else answer_of(index, committed, NO_TOPIC_ID)
                for index, committed in partitions.items()
            ],
        )
        for topic, partitions in offsets.of_group(group_id).items()
    ]


def no_offsets(topics: Sequence[OffsetFetchRequestTopics]) -> list[OffsetFetchResponseTopics]:
    """The answer for a group that does not exist."""
    return [
        OffsetFetchResponseTopics(
            topic.name,
            topic.topic_id,
            [answer_of(index, None, NO_TOPIC_ID) for index in topic.partition_indexes],
        )
        for topic in topics
    ]


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
