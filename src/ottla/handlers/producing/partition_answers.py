"""The part of a Produce response for one partition that was refused, and its size."""

from __future__ import annotations

from ottla.base.ids import NO_OFFSET
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.produce_response import PartitionProduceResponse
from ottla.replication.partition import Partition

ANSWER_BYTES = 36  # of one partition
RECORD_ERROR_BYTES = 8  # besides its message
WITHOUT_LOG_START = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.RECORD_LIST_TOO_LARGE,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.KAFKA_STORAGE_ERROR,
)


def answer_bytes(answer: PartitionProduceResponse) -> int:
    """An estimate of the encoded size."""
    size = ANSWER_BYTES + len(answer.error_message or "")
    for each in answer.record_errors:
        size += RECORD_ERROR_BYTES + len(each.batch_index_error_message or "")
    return size


def refused(
    index: int, error: BrokerError, partition: Partition | None
) -> PartitionProduceResponse:
    """The response with the log start offset, except for errors for which Kafka leaves it out."""
    answer = failed(index, error.code, error.message)
    if partition is not None and error.code not in WITHOUT_LOG_START:
        answer.log_start_offset = partition.log.log_start_offset
    return answer


def failed(index: int, code: ErrorCode, message: str) -> PartitionProduceResponse:
    return PartitionProduceResponse(index, code, NO_OFFSET, error_message=message or None)


def note_failure(answer: PartitionProduceResponse, error: BrokerError) -> None:
    answer.error_code = error.code
    answer.base_offset = NO_OFFSET
    answer.log_append_time_ms = answer.log_start_offset = -1
    answer.error_message = error.message or None
