"""DescribeTopicPartitions (key 75), version 0: topics page by page, with eligible replicas.

Topics come in the order of their names. A cursor names the first partition that is still to tell;
the answer has one where it had to stop.
"""

from __future__ import annotations

from ottla.handlers.context import Context
from ottla.handlers.permissions import TOPIC_OPERATIONS
from ottla.handlers.registry import handles
from ottla.handlers.topic_answers import offline_replicas
from ottla.metadata.entities import Partition, Topic
from ottla.metadata.image import Image
from ottla.metadata.topic_names import INTERNAL_TOPICS, fault_of_name
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_topic_partitions_request import (
    DescribeTopicPartitionsRequest,
)
from ottla.protocol.messages.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)


def refuse_describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, code: ErrorCode, _message: str
) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[DescribeTopicPartitionsResponseTopic(code, topic.name) for topic in request.topics]
    )


@handles(
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    versions=range(0, 1),
    refuse=refuse_describe_topic_partitions,
)
def describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: Context
) -> DescribeTopicPartitionsResponse:
    names = wanted_names(request, context.parts.metadata)
    limit_max = context.parts.settings.config.max_request_partition_size_limit
    room = max(1, min(limit_max, request.response_partition_limit))
    cursor = request.cursor
    response = DescribeTopicPartitionsResponse()
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    response.topics = topics
    for name in names:
        topic = context.parts.metadata.topic(name)
        if topic is None:
            if request.topics:
                topics.append(missing_topic(name))
            continue
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        topics.append(describe(topic, first, room, context.parts.metadata))
        told = len(topics[-1].partitions)
        room -= told
        if first + told < len(topic.partitions):
            response.next_cursor = Cursor(name, first + told)
            break
        if room == 0:
            following = next((each for each in names if each > name), None)
            response.next_cursor = None if following is None else Cursor(following, 0)
            break
    return response


def wanted_names(request: DescribeTopicPartitionsRequest, image: Image) -> list[str]:
    cursor = request.cursor
    start = "" if cursor is None else cursor.topic_name
    asked = {topic.name for topic in request.topics} or set(image.topics)
    names = sorted(name for name in asked if name >= start)
    if cursor is not None:
        if request.topics and cursor.topic_name not in names:
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
    return names


def missing_topic(name: str) -> DescribeTopicPartitionsResponseTopic:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if fault_of_name(name) is not None:
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(
        code,
        name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def describe(
    topic: Topic, first: int, room: int, image: Image
) -> DescribeTopicPartitionsResponseTopic:
    told = topic.partitions[first : first + room]
    return DescribeTopicPartitionsResponseTopic(
        ErrorCode.NONE,
        topic.name,
        topic.id,
        topic.name in INTERNAL_TOPICS,
        [describe_partition(first + at, each, image) for at, each in enumerate(told)],
        TOPIC_OPERATIONS,
    )


def describe_partition(
    index: int, partition: Partition, image: Image
) -> DescribeTopicPartitionsResponsePartition:
    known_leader = partition.last_known_leader
    return DescribeTopicPartitionsResponsePartition(
        ErrorCode.NONE if partition.has_leader else ErrorCode.LEADER_NOT_AVAILABLE,
        index,
        partition.leader,
        partition.leader_epoch,
        partition.replicas,
        partition.in_sync_replicas,
        partition.eligible_replicas,
        () if known_leader < 0 else (known_leader,),
        offline_replicas(partition, image),
    )
