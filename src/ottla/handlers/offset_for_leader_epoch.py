"""OffsetForLeaderEpoch (key 23), versions 2 to 4: the end offset of a leader epoch.

v3 replica id · v4 flexible encoding
Consumers use it to detect log truncation after a change of leader.
"""

from __future__ import annotations

from ottla.base.files.readers import CACHED
from ottla.base.scheduling.steps import Steps
from ottla.handlers.partitions.damage import damaged
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
)
from ottla.protocol.messages.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from ottla.storage.errors import CorruptLogError

ANSWER_BYTES = 19  # of one partition


def refuse_offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, code: ErrorCode, _message: str
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic.topic, [EpochEndOffset(code, part.partition) for part in topic.partitions]
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.OFFSET_FOR_LEADER_EPOCH, refuse=refuse_offset_for_leader_epoch)
def offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, context: Context
) -> Steps[OffsetForLeaderEpochResponse]:
    topics = []
    for topic in request.topics:
        answers: list[EpochEndOffset] = []
        topics.append(OffsetForLeaderTopicResult(topic.topic, answers))
        yield len(topic.topic)
        for each in topic.partitions:
            answers.append(find(topic.topic, each, context))
            yield ANSWER_BYTES
    return OffsetForLeaderEpochResponse(topics=topics)


def find(topic: str, wanted: OffsetForLeaderPartition, context: Context) -> EpochEndOffset:
    try:
        partition = context.parts.replicas.partition(topic, wanted.partition)
        partition.check_leader(wanted.current_leader_epoch)
        log = partition.log
        epochs = log.epochs.load(CACHED)  # a leader has them in memory
        end = epochs.end_offset_for(wanted.leader_epoch, log.log_end_offset)
    except BrokerError as error:
        return EpochEndOffset(error.code, wanted.partition)
    except CorruptLogError as error:
        return EpochEndOffset(damaged(partition, error).code, wanted.partition)
    return EpochEndOffset(ErrorCode.NONE, wanted.partition, end.epoch, end.end_offset)
