"""OffsetFetch (key 9), versions 1 to 10: how far groups have read.

v2 null topics are all, an error for the group · v3 throttle time · v5 leader epoch · v6 flexible
encoding · v7 require_stable · v8 several groups · v9 member epochs · v10 topics by id
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.base.turns import Slices, run_at_once
from ottla.coordinators.groups.offset_fetching import PARTITION_BYTES, TOPIC_BYTES
from ottla.handlers.context import Context
from ottla.handlers.group_answers import GroupReader
from ottla.handlers.registry import handles
from ottla.metadata.image import Image
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

GROUP_ERROR_FROM = 2
SEVERAL_GROUPS_FROM = 8
TOPIC_IDS_FROM = 10
NO_OFFSET = -1
GROUP_BYTES = 8  # of an answer, besides its name and topics


def refuse_offset_fetch(
    request: OffsetFetchRequest, code: ErrorCode, message: str, version: int
) -> OffsetFetchResponse:
    error = BrokerError(code, message)
    asked = request.groups if version >= SEVERAL_GROUPS_FROM else [as_group(request)]
    groups = [refused(each.group_id, each.topics or (), error, version) for each in asked]
    return response_of(groups, version)


@handles(ApiKey.OFFSET_FETCH, versions=range(1, 11), refuse_in_version=refuse_offset_fetch)
def offset_fetch(
    request: OffsetFetchRequest, context: Context
) -> Slices[OffsetFetchResponse | Awaitable[OffsetFetchResponse]]:
    """All offsets of a group are told once, however often they are asked for."""
    if context.version < SEVERAL_GROUPS_FROM:
        wanted = [(yield from naming_one_group(request))]
    else:
        wanted = list(request.groups)
    reader, answers, whole = GroupReader(context), list[OffsetFetchResponseGroup](), set()
    for each in wanted:
        key = each.group_id, each.member_id, each.member_epoch
        if each.topics is None and key in whole:
            yield 0
            continue
        if each.topics is None:
            whole.add(key)
        answers.append((yield from fetch_group(len(answers), each, reader, request, context)))
        yield GROUP_BYTES + len(each.group_id)
    asked = wanted[0].topics or () if context.version < GROUP_ERROR_FROM else ()
    shown = reader.show(
        answers, lambda at, error: refused(answers[at].group_id, asked, error, context.version)
    )
    if not isinstance(shown, list):
        return respond_later(shown, context)
    return (yield from responding(shown, context.version))


async def respond_later(
    shown: Awaitable[list[OffsetFetchResponseGroup]], context: Context
) -> OffsetFetchResponse:
    return await context.parts.turns.run(responding(await shown, context.version))


def naming_one_group(request: OffsetFetchRequest) -> Slices[OffsetFetchRequestGroup]:
    """The one group of older versions."""
    if request.topics is None:
        return OffsetFetchRequestGroup(request.group_id, topics=None)
    topics = []
    for each in request.topics:
        topics.append(OffsetFetchRequestTopics(each.name, partition_indexes=each.partition_indexes))
        yield 0
    return OffsetFetchRequestGroup(request.group_id, topics=topics)


def as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    return run_at_once(naming_one_group(request))


def fetch_group(
    at: int,
    wanted: OffsetFetchRequestGroup,
    reader: GroupReader,
    request: OffsetFetchRequest,
    context: Context,
) -> Slices[OffsetFetchResponseGroup]:
    by_id = context.version >= TOPIC_IDS_FROM
    asked, unknown = wanted.topics or (), list[OffsetFetchResponseTopics]()
    if by_id and wanted.topics is not None:
        wanted.topics = yield from naming_topics(asked, unknown, context.parts.metadata)
    errors: list[BrokerError] = []

    def refuse(error: BrokerError) -> OffsetFetchResponseGroup:
        errors.append(error)
        return refused(wanted.group_id, (), error, context.version)

    group = yield from reader.read(
        at,
        wanted.group_id,
        lambda shard: context.parts.groups.fetch_offsets(shard, wanted, request.require_stable),
        refuse,
    )
    if errors and context.version < GROUP_ERROR_FROM:
        group.topics = yield from failing_topics(asked, code_of(errors[0]))
    if by_id and not group.error_code:
        named = yield from identifying(group.topics, context.parts.metadata)
        group.topics = [*named, *unknown]
    return group


def naming_topics(
    asked: Sequence[OffsetFetchRequestTopics],
    unknown: list[OffsetFetchResponseTopics],
    image: Image,
) -> Slices[list[OffsetFetchRequestTopics]]:
    """Offsets are kept by name; the id says which topic of that name is meant."""
    known = []
    for topic in asked:
        found = image.topic_by_id(TopicId(topic.topic_id))
        topic.name = "" if found is None else found.name
        if found is not None:
            known.append(topic)
            yield 0
        else:
            unknown.append((yield from failing_topic(topic, ErrorCode.UNKNOWN_TOPIC_ID)))
    return known


def identifying(
    topics: Sequence[OffsetFetchResponseTopics], image: Image
) -> Slices[list[OffsetFetchResponseTopics]]:
    """All topics of a group were asked for: those without an id cannot be told."""
    told = []
    for topic in topics:
        found = image.topic(topic.name) if topic.topic_id == NO_TOPIC_ID else None
        if found is not None:
            topic.topic_id = found.id
        if topic.topic_id != NO_TOPIC_ID:
            told.append(topic)
        yield 0
    return told


def failing_topic(
    topic: OffsetFetchRequestTopics, code: ErrorCode
) -> Slices[OffsetFetchResponseTopics]:
    partitions = []
    yield TOPIC_BYTES + len(topic.name)
    for index in topic.partition_indexes:
        partitions.append(OffsetFetchResponsePartitions(index, NO_OFFSET, error_code=code))
        yield PARTITION_BYTES
    return OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions)


def failing_topics(
    topics: Sequence[OffsetFetchRequestTopics], code: ErrorCode
) -> Slices[list[OffsetFetchResponseTopics]]:
    failed = []
    for topic in topics:
        failed.append((yield from failing_topic(topic, code)))  # noqa: PERF401  # it yields
    return failed


def code_of(error: BrokerError) -> ErrorCode:
    """Consumers know no other way to ask again than to look for the coordinator."""
    is_missing = error.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    return ErrorCode.NOT_COORDINATOR if is_missing else error.code


def refused(
    group_id: str,
    asked: Sequence[OffsetFetchRequestTopics],
    error: BrokerError,
    version: int,
) -> OffsetFetchResponseGroup:
    code = code_of(error)
    if version >= GROUP_ERROR_FROM:
        return OffsetFetchResponseGroup(group_id, (), code)
    # Version 1 has no error but those of partitions.
    return OffsetFetchResponseGroup(group_id, run_at_once(failing_topics(asked, code)))


def response_of(groups: list[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    return run_at_once(responding(groups, version))


def responding(groups: list[OffsetFetchResponseGroup], version: int) -> Slices[OffsetFetchResponse]:
    if version >= SEVERAL_GROUPS_FROM:
        return OffsetFetchResponse(groups=groups)
    [group] = groups
    topics = []
    for topic in group.topics:
        partitions = []
        for each in topic.partitions:
            partitions.append(
                OffsetFetchResponsePartition(
                    each.partition_index,
                    each.committed_offset,
                    each.committed_leader_epoch,
                    each.metadata,
                    each.error_code,
                )
            )
            yield 0
        topics.append(OffsetFetchResponseTopic(topic.name, partitions))
        yield 0
    return OffsetFetchResponse(topics=topics, error_code=group.error_code)
