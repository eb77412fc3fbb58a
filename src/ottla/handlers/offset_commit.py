"""OffsetCommit (key 8), versions 2 to 10: store how far a group has read.

v5 no retention time of one's own · v6 leader epoch · v7 static members · v8 flexible encoding ·
v9 member epochs, GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH · v10 topics by id
Only offsets of partitions that exist are stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import NamedTuple

from ottla.base.ids import TopicId
from ottla.handlers.callers import caller_of
from ottla.handlers.context import Context
from ottla.handlers.merging import merged
from ottla.handlers.registry import handles
from ottla.handlers.waiting import attempt, combine
from ottla.metadata.image import Image
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

TOPIC_IDS_FROM = 10


def refuse_commit(
    request: OffsetCommitRequest, code: ErrorCode, _message: str
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[refused(topic, topic.partitions, code) for topic in request.topics]
    )


@handles(ApiKey.OFFSET_COMMIT, versions=range(2, 11), refuse=refuse_commit)
def offset_commit(
    request: OffsetCommitRequest, context: Context
) -> OffsetCommitResponse | Awaitable[OffsetCommitResponse]:
    by_id = context.version >= TOPIC_IDS_FROM
    sorted_out = [sort_out(topic, context.parts.metadata, by_id) for topic in request.topics]
    known = [each.known for each in sorted_out if each.known.partitions]
    unknown = [each.unknown for each in sorted_out if each.unknown is not None]
    if not known:
        return OffsetCommitResponse(topics=merged(unknown, ()))
    request.topics = known
    outcome = attempt(
        lambda: context.parts.groups.commit(request, caller_of(context)),
        lambda error: refuse_commit(request, error.code, error.message),
    )
    if not unknown:
        return outcome
    return combine(
        [outcome], lambda done: OffsetCommitResponse(topics=merged(unknown, done[0].topics))
    )


class SortedOut(NamedTuple):
    """The partitions of a topic that exist, and the answer for those that do not, or for all."""

    known: OffsetCommitRequestTopic
    unknown: OffsetCommitResponseTopic | None


def sort_out(topic: OffsetCommitRequestTopic, image: Image, by_id: bool) -> SortedOut:
    found = image.topic_by_id(TopicId(topic.topic_id)) if by_id else image.topic(topic.name)
    count = 0 if found is None else len(found.partitions)
    known = OffsetCommitRequestTopic(
        topic.name if found is None else found.name,
        topic.topic_id if found is None else found.id,
        [each for each in topic.partitions if 0 <= each.partition_index < count],
    )
    missing = [each for each in topic.partitions if not 0 <= each.partition_index < count]
    is_unknown_id = by_id and found is None
    code = ErrorCode.UNKNOWN_TOPIC_ID if is_unknown_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    is_told = missing or found is None
    return SortedOut(known, refused(known, missing, code) if is_told else None)


def refused(
    topic: OffsetCommitRequestTopic,
    partitions: Sequence[OffsetCommitRequestPartition],
    code: ErrorCode,
) -> OffsetCommitResponseTopic:
    answers = [OffsetCommitResponsePartition(each.partition_index, code) for each in partitions]
    return OffsetCommitResponseTopic(topic.name, topic.topic_id, answers)
