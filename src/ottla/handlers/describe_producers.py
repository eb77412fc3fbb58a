"""DescribeProducers (key 61), version 0: who writes to partitions led here, and which of their
transactions are open. Tools look for hanging transactions with it."""

from __future__ import annotations

from ottla.handlers.context import Context
from ottla.handlers.registry import handles
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


@handles(ApiKey.DESCRIBE_PRODUCERS, versions=range(0, 1), refuse=refuse_describe)
def describe_producers(
    request: DescribeProducersRequest, context: Context
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                topic.name,
                [describe(topic.name, each, context) for each in topic.partition_indexes],
            )
            for topic in request.topics
        ]
    )


def describe(topic: str, index: int, context: Context) -> PartitionResponse:
    try:
        check_name(topic)
        partition = context.parts.replicas.partition(topic, index)
        partition.check_leader()
    except BrokerError as error:
        return PartitionResponse(index, error.code, error.message or None)
    return PartitionResponse(
        index,
        active_producers=[
            ProducerState(
                producer_id,
                entry.epoch,
                entry.last_sequence,
                entry.last_timestamp,
                entry.coordinator_epoch,
                entry.transaction_first_offset,
            )
            for producer_id, entry in partition.log.producer_states.producers.items()
        ],
    )
