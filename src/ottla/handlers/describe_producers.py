"""DescribeProducers (key 61), version 0: active producers of partitions with a replica here.

Tools use it to find hanging transactions. They ask the leader, or each broker about all of its
replicas: followers know the producers as well.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.base.memory.stored_errors import without_traceback
from ottla.base.scheduling.steps import Steps, looking_up
from ottla.handlers.partitions.damage import damaged
from ottla.handlers.partitions.producer_loading import loading_producers
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.metadata.topic_names import check_name
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_producers_request import DescribeProducersRequest
from ottla.protocol.messages.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log
from ottla.storage.producers.producer_entry import ProducerEntry

PARTITION_BYTES = 9
PRODUCER_BYTES = 37


def refuse_describe(
    request: DescribeProducersRequest, code: ErrorCode, message: str
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                topic.name,
                [
                    PartitionResponse(each, code, message or None)
                    for each in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.DESCRIBE_PRODUCERS, refuse=refuse_describe)
def describe_producers(
    request: DescribeProducersRequest, context: Context
) -> Steps[DescribeProducersResponse | Awaitable[DescribeProducersResponse]]:
    unread: dict[Log, None] = {}
    for topic in request.topics:
        yield 0
        for index in topic.partition_indexes:
            yield 0
            partition = partition_here(topic.name, index, context)
            if isinstance(partition, Partition) and not partition.log.producers.is_loaded:
                unread[partition.log] = None
    if unread:
        return read_and_describe(list(unread), request, context)
    return (yield from describing(request, context))


async def read_and_describe(
    unread: list[Log], request: DescribeProducersRequest, context: Context
) -> DescribeProducersResponse:
    await context.parts.scheduler.run(loading_producers(unread))
    return await context.parts.large_responses.build(describing(request, context), context)


def describing(
    request: DescribeProducersRequest, context: Context
) -> Steps[DescribeProducersResponse]:
    topics = []
    for topic in request.topics:
        answers: list[PartitionResponse] = []
        topics.append(TopicResponse(topic.name, answers))
        yield len(topic.name)
        for index in topic.partition_indexes:
            answer = yield from describing_partition(topic.name, index, context)
            answers.append(answer)
    return DescribeProducersResponse(topics=topics)


def describing_partition(topic: str, index: int, context: Context) -> Steps[PartitionResponse]:
    partition = partition_here(topic, index, context)
    yield PARTITION_BYTES
    if isinstance(partition, BrokerError):
        return PartitionResponse(index, partition.code, partition.message or None)
    try:
        states = yield from looking_up(partition.log.producers.load)
    except CorruptLogError as error:
        return PartitionResponse(index, damaged(partition, error).code)
    producers, described = states.producers, []
    for producer_id in list(producers):
        yield PRODUCER_BYTES
        entry = producers.get(producer_id)
        if entry is None:
            continue  # removed meanwhile
        described.append(as_state(producer_id, entry))
    return PartitionResponse(index, active_producers=described)


def partition_here(topic: str, index: int, context: Context) -> Partition | BrokerError:
    try:
        check_name(topic)
        return context.parts.replicas.partition(topic, index)
    except BrokerError as error:
        return without_traceback(error)


def as_state(producer_id: int, entry: ProducerEntry) -> ProducerState:
    return ProducerState(
        producer_id,
        entry.epoch,
        entry.last_sequence,
        entry.last_timestamp,
        entry.coordinator_epoch,
        entry.transaction_first_offset,
    )
