"""OffsetFetch (key 9), versions 1 to 10: the committed offsets of groups.

v2 null means all topics, group-level error · v3 throttle time · v5 leader epoch · v6 flexible
encoding · v7 require_stable · v8 several groups · v9 member epochs · v10 topics by id
"""

from __future__ import annotations

from collections.abc import Awaitable, Hashable, Sequence
from copy import copy
from functools import partial

from ottla.base.ids import NO_OFFSET, NO_TOPIC_ID, TopicId
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.coordinators.groups.offset_fetching import PARTITION_BYTES, TOPIC_BYTES
from ottla.coordinators.groups.shard import LoadedShard
from ottla.coordinators.replicated_answers import unreplicated
from ottla.handlers.groups.answers import GroupReader
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.large_responses import build_at_once, may_build_at_once
from ottla.handlers.serving.registry import handles
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
GROUP_BYTES = 8  # of a response, besides its name and topics
ITEMS_AT_ONCE = 100  # groups, topics and partitions; more are read in slices


def refuse_offset_fetch(
    request: OffsetFetchRequest, code: ErrorCode, message: str, version: int
) -> OffsetFetchResponse:
    error = BrokerError(code, message)
    asked = request.groups if version >= SEVERAL_GROUPS_FROM else [as_group(request)]
    groups = [refused(each.group_id, each.topics or (), error, version) for each in asked]
    return response_of(groups, version)


@handles(ApiKey.OFFSET_FETCH, refuse_in_version=refuse_offset_fetch)
def offset_fetch(
    request: OffsetFetchRequest, context: Context
) -> (
    OffsetFetchResponse
    | Awaitable[OffsetFetchResponse]
    | Steps[OffsetFetchResponse | Awaitable[OffsetFetchResponse]]
):
    if may_build_at_once(context) and is_small(request, context.version):
        return fetch_at_once(request, context)
    return fetching_in_slices(request, context)


def is_small(request: OffsetFetchRequest, version: int) -> bool:
    """Whether it is served without slices. All topics of a group may be many."""
    count = 0
    for each in request.groups if version >= SEVERAL_GROUPS_FROM else (request,):
        if each.topics is None:
            return False
        count += 1 + len(each.topics)
        if count > ITEMS_AT_ONCE:
            return False
        for topic in each.topics:
            count += len(topic.partition_indexes)
    return count <= ITEMS_AT_ONCE


def fetch_at_once(
    request: OffsetFetchRequest, context: Context
) -> OffsetFetchResponse | Awaitable[OffsetFetchResponse]:
    version = context.version
    wanted = request.groups if version >= SEVERAL_GROUPS_FROM else [as_group(request)]
    shards, groups = build_at_once(reading_groups(wanted, request.require_stable, context), context)
    waiting = unreplicated(filter(None, shards))
    if waiting:
        return show_later(waiting, shards, wanted, groups, context)
    return response_of(groups, version)


async def show_later(
    waiting: dict[LoadedShard, int],
    shards: Sequence[LoadedShard | None],
    wanted: Sequence[OffsetFetchRequestGroup],
    groups: list[OffsetFetchResponseGroup],
    context: Context,
) -> OffsetFetchResponse:
    failed, version = await context.parts.groups.replicated(waiting), context.version
    for at, (shard, each) in enumerate(zip(shards, wanted, strict=True)):
        if shard is not None and shard in failed:
            groups[at] = not_shown(each, failed[shard], version)
    return response_of(groups, version)


def not_shown(
    wanted: OffsetFetchRequestGroup, error: BrokerError, version: int
) -> OffsetFetchResponseGroup:
    """The offsets of the group are not replicated in time. Kafka returns older ones then. Some
    clients, aiokafka among them, do not look at the error of a group in versions before 8, and
    begin at the start of each partition without an offset: therefore these have the error, too."""
    group = refused(wanted.group_id, wanted.topics or (), error, version)
    if version < SEVERAL_GROUPS_FROM and not group.topics:
        group.topics = run_blocking(failing_topics(wanted.topics or (), code_of(error)))
    return group


def reading_groups(
    wanted: Sequence[OffsetFetchRequestGroup], require_stable: bool, context: Context
) -> Steps[tuple[list[LoadedShard | None], list[OffsetFetchResponseGroup]]]:
    """(the shard that each group was read of, what it has)."""
    shards: list[LoadedShard | None] = []
    groups = []
    for each in wanted:
        shard: LoadedShard | None
        try:
            shard = context.parts.groups.shard_of(each.group_id)
            group = yield from reading(shard, each, require_stable, context, at_once=True)
        except BrokerError as error:
            shard = None
            group = yield from refusing(each.group_id, each.topics or (), error, context.version)
        shards.append(shard)
        groups.append(group)
    return shards, groups


def fetching_in_slices(
    request: OffsetFetchRequest, context: Context
) -> Steps[OffsetFetchResponse | Awaitable[OffsetFetchResponse]]:
    """Offsets of a group are read once, even if the request names the group several times."""
    version = context.version
    if version < SEVERAL_GROUPS_FROM:
        wanted = [(yield from naming_one_group(request))]
    else:
        wanted = list(request.groups)
    reader: GroupReader[OffsetFetchResponseGroup] = GroupReader(context)
    for at, each in enumerate(wanted):
        member_key = each.group_id, each.member_id, each.member_epoch
        key: Hashable = member_key if each.topics is None else at
        yield from reader.read(
            key,
            each.group_id,
            partial(reading, wanted=each, require_stable=request.require_stable, context=context),
            partial(refusing, each.group_id, each.topics or (), version=version),
        )
    asked = wanted[0].topics or () if version < GROUP_ERROR_FROM else ()
    shown = reader.show(lambda group, error: refused(group.group_id, asked, error, version))
    if not isinstance(shown, list):
        return respond_later(shown, context)
    return (yield from responding(shown, version))


async def respond_later(
    shown: Awaitable[list[OffsetFetchResponseGroup]], context: Context
) -> OffsetFetchResponse:
    answering = responding(await shown, context.version)
    return await context.parts.large_responses.build(answering, context)


def naming_one_group(request: OffsetFetchRequest) -> Steps[OffsetFetchRequestGroup]:
    """The one group of older versions."""
    if request.topics is None:
        return OffsetFetchRequestGroup(request.group_id, topics=None)
    topics = []
    for each in request.topics:
        topics.append(OffsetFetchRequestTopics(each.name, partition_indexes=each.partition_indexes))
        yield 0
    return OffsetFetchRequestGroup(request.group_id, topics=topics)


def as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    return run_blocking(naming_one_group(request))


def reading(
    shard: LoadedShard,
    wanted: OffsetFetchRequestGroup,
    require_stable: bool,
    context: Context,
    *,
    at_once: bool = False,
) -> Steps[OffsetFetchResponseGroup]:
    image, by_id = context.parts.metadata, context.version >= TOPIC_IDS_FROM
    unknown: list[OffsetFetchResponseTopics] = []
    if by_id and wanted.topics is not None:
        # The request keeps its topics: they are freed in pieces after the response is sent.
        named = yield from naming_topics(wanted.topics, unknown, image)
        wanted = copy(wanted)
        wanted.topics = named
    group = yield from context.parts.groups.offsets.fetch(
        shard, wanted, require_stable, at_once=at_once
    )
    if by_id:
        group.topics = [*(yield from identifying(group.topics, image)), *unknown]
    yield GROUP_BYTES + len(wanted.group_id)
    return group


def naming_topics(
    asked: Sequence[OffsetFetchRequestTopics],
    unknown: list[OffsetFetchResponseTopics],
    image: Image,
) -> Steps[list[OffsetFetchRequestTopics]]:
    """Offsets are stored by topic name; the id identifies the topic of that name."""
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
) -> Steps[list[OffsetFetchResponseTopics]]:
    """For all topics of a group: topics without an id are left out."""
    identified = []
    for topic in topics:
        found = image.topic(topic.name) if topic.topic_id == NO_TOPIC_ID else None
        if found is not None:
            topic.topic_id = found.id
        if topic.topic_id != NO_TOPIC_ID:
            identified.append(topic)
        yield 0
    return identified


def failing_topic(
    topic: OffsetFetchRequestTopics, code: ErrorCode
) -> Steps[OffsetFetchResponseTopics]:
    partitions = []
    yield TOPIC_BYTES + len(topic.name)
    for index in topic.partition_indexes:
        partitions.append(OffsetFetchResponsePartitions(index, NO_OFFSET, error_code=code))
        yield PARTITION_BYTES
    return OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions)


def failing_topics(
    topics: Sequence[OffsetFetchRequestTopics], code: ErrorCode
) -> Steps[list[OffsetFetchResponseTopics]]:
    failed = []
    for topic in topics:
        failed.append((yield from failing_topic(topic, code)))  # noqa: PERF401  # it yields
    return failed


def code_of(error: BrokerError) -> ErrorCode:
    """The error after which older consumers find the coordinator and retry."""
    is_missing = error.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    return ErrorCode.NOT_COORDINATOR if is_missing else error.code


def refused(
    group_id: str,
    asked: Sequence[OffsetFetchRequestTopics],
    error: BrokerError,
    version: int,
) -> OffsetFetchResponseGroup:
    return run_blocking(refusing(group_id, asked, error, version))


def refusing(
    group_id: str,
    asked: Sequence[OffsetFetchRequestTopics],
    error: BrokerError,
    version: int,
) -> Steps[OffsetFetchResponseGroup]:
    code = code_of(error)
    yield GROUP_BYTES + len(group_id)
    if version >= GROUP_ERROR_FROM:
        return OffsetFetchResponseGroup(group_id, (), code)
    # Version 1 has only errors of partitions.
    return OffsetFetchResponseGroup(group_id, (yield from failing_topics(asked, code)))


def response_of(groups: list[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    if version >= SEVERAL_GROUPS_FROM:
        return OffsetFetchResponse(groups=groups)
    return run_blocking(responding_for_one(*groups))


def responding(groups: list[OffsetFetchResponseGroup], version: int) -> Steps[OffsetFetchResponse]:
    if version >= SEVERAL_GROUPS_FROM:
        return OffsetFetchResponse(groups=groups)
    return (yield from responding_for_one(*groups))


def responding_for_one(group: OffsetFetchResponseGroup) -> Steps[OffsetFetchResponse]:
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
