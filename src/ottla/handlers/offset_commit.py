"""OffsetCommit (key 8), versions 2 to 10: store the offsets of a group.

v5 no retention time · v6 leader epoch · v7 static members · v8 flexible encoding ·
v9 member epochs, GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH · v10 topics by id
Only offsets of partitions that exist are stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial

from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.handlers.groups.callers import caller_of
from ottla.handlers.groups.known_partitions import is_small, split_by_existence
from ottla.handlers.groups.merging import merged, merging
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.metadata.image import Image
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
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
    return OffsetCommitResponse(topics=[refused(topic, code) for topic in request.topics])


@handles(ApiKey.OFFSET_COMMIT, refuse=refuse_commit)
def offset_commit(
    request: OffsetCommitRequest, context: Context
) -> (
    OffsetCommitResponse | Awaitable[OffsetCommitResponse] | Steps[OffsetCommitResponse | Deferred]
):
    if not is_small(request.topics):
        return committing(request, context)
    if has_known_only(request, context):
        return commit_at_once(request, (), context)
    unknown = run_blocking(keeping_known(request, context))
    if not request.topics:
        return OffsetCommitResponse(topics=merged(unknown, ()))
    return commit_at_once(request, unknown, context)


def has_known_only(request: OffsetCommitRequest, context: Context) -> bool:
    """Whether all partitions exist, as nearly always. Then each topic has its name and its id."""
    image, by_id = context.parts.metadata, context.version >= TOPIC_IDS_FROM
    for topic in request.topics:
        found = image.topic_by_id(TopicId(topic.topic_id)) if by_id else image.topic(topic.name)
        if found is None or not topic.partitions:
            return False
        count = len(found.partitions)
        for each in topic.partitions:
            if not 0 <= each.partition_index < count:
                return False
        topic.name, topic.topic_id = found.name, found.id
    return bool(request.topics)


def committing(
    request: OffsetCommitRequest, context: Context
) -> Steps[OffsetCommitResponse | Deferred]:
    unknown = yield from keeping_known(request, context)
    if not request.topics:
        return OffsetCommitResponse(topics=(yield from merging(unknown, ())))
    try:
        writing = yield from context.parts.groups.offsets.commit_many(request, caller_of(context))
    except BrokerError as error:
        writing = refuse_later(request, error, context)
    return Deferred(respond_later(writing, request, unknown, context))


async def respond_later(
    writing: Awaitable[OffsetCommitResponse],
    request: OffsetCommitRequest,
    unknown: Sequence[OffsetCommitResponseTopic],
    context: Context,
) -> OffsetCommitResponse:
    try:
        response = await writing
    except BrokerError as error:
        response = await refuse_later(request, error, context)
    if unknown:
        response.topics = await context.parts.scheduler.run(merging(unknown, response.topics))
    return response


async def refuse_later(
    request: OffsetCommitRequest, error: BrokerError, context: Context
) -> OffsetCommitResponse:
    refuse = partial(refuse_commit, request, error.code, error.message)
    return await context.parts.scheduler.in_thread(refuse)


def keeping_known(
    request: OffsetCommitRequest, context: Context
) -> Steps[list[OffsetCommitResponseTopic]]:
    """Remove from the request what does not exist; returns the answers for that."""
    known, unknown = list[OffsetCommitRequestTopic](), list[OffsetCommitResponseTopic]()
    image, by_id = context.parts.metadata, context.version >= TOPIC_IDS_FROM
    for topic in request.topics:
        yield from splitting_topic(topic, image, by_id, known, unknown)
    request.topics = known
    return unknown


def splitting_topic(
    topic: OffsetCommitRequestTopic,
    image: Image,
    by_id: bool,
    known: list[OffsetCommitRequestTopic],
    unknown: list[OffsetCommitResponseTopic],
) -> Steps[None]:
    """The partitions of a topic that exist, and the answer for those that do not, or for all."""
    found = image.topic_by_id(TopicId(topic.topic_id)) if by_id else image.topic(topic.name)
    is_unknown_id = by_id and found is None
    code = ErrorCode.UNKNOWN_TOPIC_ID if is_unknown_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    name, topic_id = (topic.name, topic.topic_id) if found is None else (found.name, found.id)
    existing, missing = yield from split_by_existence(
        topic.partitions,
        0 if found is None else len(found.partitions),
        lambda each: OffsetCommitResponsePartition(each.partition_index, code),
    )
    if existing:
        known.append(OffsetCommitRequestTopic(name, topic_id, existing))
    if missing or found is None:
        unknown.append(OffsetCommitResponseTopic(name, topic_id, missing))


def commit_at_once(
    request: OffsetCommitRequest, unknown: Sequence[OffsetCommitResponseTopic], context: Context
) -> OffsetCommitResponse | Awaitable[OffsetCommitResponse]:
    try:
        outcome = context.parts.groups.offsets.commit(request, caller_of(context))
    except BrokerError as error:
        outcome = refuse_commit(request, error.code, error.message)
    if not isinstance(outcome, OffsetCommitResponse):
        return complete(outcome, request, unknown)
    return with_unknown(outcome, unknown)


async def complete(
    writing: Awaitable[OffsetCommitResponse],
    request: OffsetCommitRequest,
    unknown: Sequence[OffsetCommitResponseTopic],
) -> OffsetCommitResponse:
    try:
        response = await writing
    except BrokerError as error:
        response = refuse_commit(request, error.code, error.message)
    return with_unknown(response, unknown)


def with_unknown(
    response: OffsetCommitResponse, unknown: Sequence[OffsetCommitResponseTopic]
) -> OffsetCommitResponse:
    if unknown:
        response.topics = merged(unknown, response.topics)
    return response


def refused(topic: OffsetCommitRequestTopic, code: ErrorCode) -> OffsetCommitResponseTopic:
    answers = [
        OffsetCommitResponsePartition(each.partition_index, code) for each in topic.partitions
    ]
    return OffsetCommitResponseTopic(topic.name, topic.topic_id, answers)
