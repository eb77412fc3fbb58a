"""OffsetFetch (key 9), versions 1 to 10: how far groups have read.

v2 null topics are all, an error for the group · v3 throttle time · v5 leader epoch · v6 flexible
encoding · v7 require_stable · v8 several groups · v9 member epochs · v10 topics by id
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.handlers.waiting import attempt, combine
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
) -> OffsetFetchResponse | Awaitable[OffsetFetchResponse]:
    version = context.version
    wanted = request.groups if version >= SEVERAL_GROUPS_FROM else [as_group(request)]
    answers = [fetch_group(each, request.require_stable, context) for each in wanted]
    return combine(answers, lambda groups: response_of(groups, version))


def as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """The one group of older versions."""
    if request.topics is None:
        return OffsetFetchRequestGroup(request.group_id, topics=None)
    topics = [
        OffsetFetchRequestTopics(each.name, partition_indexes=each.partition_indexes)
        for each in request.topics
    ]
    return OffsetFetchRequestGroup(request.group_id, topics=topics)


def fetch_group(
    wanted: OffsetFetchRequestGroup, require_stable: bool, context: Context
) -> OffsetFetchResponseGroup | Awaitable[OffsetFetchResponseGroup]:
    by_id = context.version >= TOPIC_IDS_FROM
    image = context.parts.metadata
    asked = list(wanted.topics or ())
    unknown = []
    if by_id and wanted.topics is not None:
        name_topics(wanted.topics, image)
        unknown = [unknown_topic(topic) for topic in asked if not topic.name]
        wanted.topics = [topic for topic in asked if topic.name]

    def finish(found: list[OffsetFetchResponseGroup]) -> OffsetFetchResponseGroup:
        group = found[0]
        if not group.error_code:
            topics = identified(group.topics, image) if by_id else group.topics
            group.topics = [*topics, *unknown]
        return group

    answer = attempt(
        lambda: context.parts.groups.fetch_offsets(wanted, require_stable),
        lambda error: refused(wanted.group_id, asked, error, context.version),
    )
    return combine([answer], finish)


def name_topics(topics: Sequence[OffsetFetchRequestTopics], image: Image) -> None:
    """Offsets are kept by name; the id says which topic of that name is meant."""
    for topic in topics:
        found = image.topic_by_id(TopicId(topic.topic_id))
        topic.name = "" if found is None else found.name


def identified(
    topics: Sequence[OffsetFetchResponseTopics], image: Image
) -> list[OffsetFetchResponseTopics]:
    """All topics of a group were asked for: those without an id cannot be told."""
    for topic in topics:
        found = image.topic(topic.name) if topic.topic_id == NO_TOPIC_ID else None
        if found is not None:
            topic.topic_id = found.id
    return [topic for topic in topics if topic.topic_id != NO_TOPIC_ID]


def unknown_topic(topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    return failed_topic(topic, ErrorCode.UNKNOWN_TOPIC_ID)


def failed_topic(topic: OffsetFetchRequestTopics, code: ErrorCode) -> OffsetFetchResponseTopics:
    partitions = [
        OffsetFetchResponsePartitions(index, NO_OFFSET, error_code=code)
        for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions)


def refused(
    group_id: str,
    asked: Sequence[OffsetFetchRequestTopics],
    error: BrokerError,
    version: int,
) -> OffsetFetchResponseGroup:
    code = error.code
    if code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
        code = ErrorCode.NOT_COORDINATOR  # consumers know no other way to ask again
    if version >= GROUP_ERROR_FROM:
        return OffsetFetchResponseGroup(group_id, (), code)
    # Version 1 has no error but those of partitions.
    return OffsetFetchResponseGroup(group_id, [failed_topic(topic, code) for topic in asked])


def response_of(groups: list[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    if version >= SEVERAL_GROUPS_FROM:
        return OffsetFetchResponse(groups=groups)
    [group] = groups
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(
                    each.partition_index,
                    each.committed_offset,
                    each.committed_leader_epoch,
                    each.metadata,
                    each.error_code,
                )
                for each in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=group.error_code)
