"""DeleteRecords (key 21), versions 0 to 2: forget everything before an offset.

v2 flexible encoding. -1 stands for the high watermark.
"""

from __future__ import annotations

from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
)
from ottla.protocol.messages.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ottla.replication.partition import Partition

HIGH_WATERMARK = -1
UNKNOWN = -1


def refuse_delete_records(
    request: DeleteRecordsRequest, code: ErrorCode, _message: str
) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name,
                [
                    DeleteRecordsPartitionResult(part.partition_index, UNKNOWN, code)
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.DELETE_RECORDS, versions=range(0, 3), refuse=refuse_delete_records)
def delete_records(request: DeleteRecordsRequest, context: Context) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name, [delete(topic.name, each, context) for each in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def delete(
    topic: str, wanted: DeleteRecordsPartition, context: Context
) -> DeleteRecordsPartitionResult:
    try:
        partition = context.parts.replicas.partition(topic, wanted.partition_index)
        partition.check_leader()
        low_watermark = delete_before(partition, wanted.offset)
    except BrokerError as error:
        return DeleteRecordsPartitionResult(wanted.partition_index, UNKNOWN, error.code)
    return DeleteRecordsPartitionResult(wanted.partition_index, low_watermark, ErrorCode.NONE)


def delete_before(partition: Partition, offset: int) -> int:
    """The new start of the log, which readers are told of."""
    log = partition.log
    if not log.config.is_deleted and log.config.is_compacted:
        raise BrokerError(ErrorCode.POLICY_VIOLATION)
    before = log.high_watermark if offset == HIGH_WATERMARK else offset
    if before < 0 or before > log.high_watermark:
        raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if log.advance_log_start(before):
        partition.announce()
    return log.log_start_offset
