"""DescribeTopicPartitions (key 75), version 0: topics page by page, with eligible replicas.

Topics are in the order of their names. A response that is not complete has a cursor: the first
partition of the next page.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from ottla.base.ids import NO_LEADER
from ottla.base.scheduling.sorting import sorting
from ottla.base.scheduling.steps import Steps
from ottla.handlers.administration.permissions import TOPIC_OPERATIONS
from ottla.handlers.partitions.topic_answers import missing_topic_code, offline_replicas
from ottla.handlers.serving.chunks import chunks
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.image import Image
from ottla.metadata.topic_names import INTERNAL_TOPICS
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_topic_partitions_request import (
    Cursor as RequestCursor,
)
from ottla.protocol.messages.describe_topic_partitions_request import (
    DescribeTopicPartitionsRequest,
)
from ottla.protocol.messages.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

TOPIC_BYTES, PARTITION_BYTES = 32, 48  # estimates of their encoded size


def refuse_describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, code: ErrorCode, _message: str
) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[DescribeTopicPartitionsResponseTopic(code, topic.name) for topic in request.topics]
    )


@handles(
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    refuse=refuse_describe_topic_partitions,
)
def describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: Context
) -> Steps[DescribeTopicPartitionsResponse]:
    names = yield from requested_names(request, context.parts.metadata)
    limit_max = context.parts.config.broker.max_request_partition_size_limit
    unreachable = context.parts.topic_answers.unreachable(context.peer.listener)
    page = Page(request, max(1, min(limit_max, request.response_partition_limit)))
    for name in names:
        yield from page.add_topic(name, context.parts.metadata, unreachable)
        if page.room == 0:
            if page.next_cursor is None:
                following = next(names, None)
                page.next_cursor = None if following is None else Cursor(following, 0)
            break
    response = DescribeTopicPartitionsResponse(topics=page.topics)
    response.next_cursor = page.next_cursor
    return response


class Page:
    """One page of the response."""

    def __init__(self, request: DescribeTopicPartitionsRequest, room: int) -> None:
        self._cursor = request.cursor
        self._reports_missing = bool(request.topics)
        self.room = room  # in partitions
        self.topics: list[DescribeTopicPartitionsResponseTopic] = []
        self.next_cursor: Cursor | None = None

    def add_topic(self, name: str, image: Image, unreachable: frozenset[int]) -> Steps[None]:
        topic, cursor = image.topic(name), self._cursor
        if topic is None:
            if self._reports_missing:
                self.topics.append(missing_topic(name))
                yield TOPIC_BYTES + len(name)
            return
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        partition_count = len(topic.partitions)
        described = yield from describe(topic, first, self.room, image, unreachable)
        self.topics.append(described)
        yield TOPIC_BYTES + len(name)
        count = len(described.partitions)
        self.room -= count
        if first + count < partition_count:
            self.next_cursor, self.room = Cursor(name, first + count), 0


def requested_names(request: DescribeTopicPartitionsRequest, image: Image) -> Steps[Iterator[str]]:
    cursor = request.cursor
    start = "" if cursor is None else cursor.topic_name
    names: dict[str, None] = {}
    requested = (topic.name for topic in request.topics) if request.topics else list(image.topics)
    for chunk in chunks(requested):
        for name in chunk:
            if name >= start:
                names[name] = None
        yield 0
    if cursor is not None:
        check_cursor(cursor, names, has_names=bool(request.topics))
    return (yield from sorting(names))


def check_cursor(cursor: RequestCursor, names: Container[str], *, has_names: bool) -> None:
    if has_names and cursor.topic_name not in names:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            "DescribeTopicPartitionsRequest topic list should contain the cursor topic: "
            + cursor.topic_name,
        )
    if cursor.partition_index < 0:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            f"DescribeTopicPartitionsRequest cursor partition must be valid: {cursor}",
        )


def missing_topic(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        missing_topic_code(name),
        name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def describe(
    topic: Topic, first: int, room: int, image: Image, unreachable: frozenset[int]
) -> Steps[DescribeTopicPartitionsResponseTopic]:
    partitions: list[DescribeTopicPartitionsResponsePartition] = []
    for chunk in chunks(topic.partitions[first : first + room]):
        partitions += [
            describe_partition(index, each, image, unreachable)
            for index, each in enumerate(chunk, first + len(partitions))
        ]
        yield PARTITION_BYTES * len(chunk)
    return DescribeTopicPartitionsResponseTopic(
        ErrorCode.NONE,
        topic.name,
        topic.id,
        topic.name in INTERNAL_TOPICS,
        partitions,
        TOPIC_OPERATIONS,
    )


def describe_partition(
    index: int, partition: PartitionRegistration, image: Image, unreachable: frozenset[int]
) -> DescribeTopicPartitionsResponsePartition:
    known_leader = partition.last_known_leader
    return DescribeTopicPartitionsResponsePartition(
        ErrorCode.NONE,  # also without a leader, unlike in Metadata
        index,
        NO_LEADER if partition.leader in unreachable else partition.leader,
        partition.leader_epoch,
        partition.replicas,
        partition.in_sync_replicas,
        partition.eligible_replicas,
        () if known_leader < 0 else (known_leader,),
        offline_replicas(partition, image, unreachable),
    )
