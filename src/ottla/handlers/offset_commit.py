"""OffsetCommit (key 8), versions 2 to 10: store how far a group has read.

v5 no retention time of one's own · v6 leader epoch · v7 static members · v8 flexible encoding ·
v9 member epochs, GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH · v10 topics by id
Only offsets of partitions that exist are stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import NamedTuple

from ottla.base.ids import TopicId
from ottla.base.turns import Slices
from ottla.handlers.callers import caller_of
from ottla.handlers.context import Context
from ottla.handlers.merging import merged, merging
from ottla.handlers.registry import Working, handles
from ottla.handlers.waiting import attempt, combine
from ottla.metadata.image import Image
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
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
PARTITIONS_AT_ONCE = 50  # more are checked and encoded in slices


def refuse_commit(
    request: OffsetCommitRequest, code: ErrorCode, _message: str
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[refused(topic, topic.partitions, code) for topic in request.topics]
    )


@handles(ApiKey.OFFSET_COMMIT, versions=range(2, 11), refuse=refuse_commit)
def offset_commit(
    request: OffsetCommitRequest, context: Context
) -> Slices[OffsetCommitResponse | Awaitable[OffsetCommitResponse] | Working]:
    if is_small(request.topics):
        return commit_at_once(request, context)
    known, unknown = list[OffsetCommitRequestTopic](), list[OffsetCommitResponseTopic]()
    by_id = context.version >= TOPIC_IDS_FROM
    for topic in request.topics:
        yield from sorting_out(topic, context.parts.metadata, by_id, known, unknown)
    request.topics = known
    if not known:
        return OffsetCommitResponse(topics=(yield from merging(unknown, ())))
    try:
        writing = yield from context.parts.groups.commit_many(request, caller_of(context))
    except BrokerError as error:
        writing = refuse_later(request, error)
    return Working(respond_later(writing, request, unknown, context))


def is_small(topics: Sequence[OffsetCommitRequestTopic]) -> bool:
    few = len(topics) <= PARTITIONS_AT_ONCE
    return few and sum(len(each.partitions) for each in topics) <= PARTITIONS_AT_ONCE


async def respond_later(
    writing: Awaitable[OffsetCommitResponse],
    request: OffsetCommitRequest,
    unknown: Sequence[OffsetCommitResponseTopic],
    context: Context,
) -> OffsetCommitResponse:
    try:
        response = await writing
    except BrokerError as error:
        response = await refuse_later(request, error)
    if unknown:
        response.topics = await context.parts.turns.run(merging(unknown, response.topics))
    return response


async def refuse_later(request: OffsetCommitRequest, error: BrokerError) -> OffsetCommitResponse:
    return await asyncio.to_thread(refuse_commit, request, error.code, error.message)


def sorting_out(
    topic: OffsetCommitRequestTopic,
    image: Image,
    by_id: bool,
    known: list[OffsetCommitRequestTopic],
    unknown: list[OffsetCommitResponseTopic],
) -> Slices[None]:
    """As `sort_out`, some partitions at a time."""
    existing, missing = list[OffsetCommitRequestPartition](), list[OffsetCommitResponsePartition]()
    for at in range(0, len(topic.partitions) or 1, PARTITIONS_AT_ONCE):
        some = topic.partitions[at : at + PARTITIONS_AT_ONCE]
        part = sort_out(OffsetCommitRequestTopic(topic.name, topic.topic_id, some), image, by_id)
        existing += part.known.partitions
        missing += () if part.unknown is None else part.unknown.partitions
        yield 0
    if existing:
        known.append(OffsetCommitRequestTopic(part.known.name, part.known.topic_id, existing))
    if missing or part.unknown is not None:
        unknown.append(OffsetCommitResponseTopic(part.known.name, part.known.topic_id, missing))


def commit_at_once(
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
