"""DeleteRecords (key 21), versions 0 to 2: forget everything before an offset.

v2 flexible encoding. -1 stands for the high watermark.
Answered when the new beginning is written down: what was deleted does not come back by a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from ottla.handlers.cold_logs import read_producers
from ottla.handlers.context import Context
from ottla.handlers.registry import Working, handles
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
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log

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
def delete_records(
    request: DeleteRecordsRequest, context: Context
) -> DeleteRecordsResponse | Awaitable[DeleteRecordsResponse] | Working:
    unread = unread_logs(request, context.parts.replicas)
    if unread:
        return Working(read_and_delete(request, context, unread))
    return delete_all(request, context)


def unread_logs(request: DeleteRecordsRequest, replicas: ReplicaManager) -> list[Log]:
    """Those whose producers have to be read from their files first."""
    logs = []
    for topic in request.topics:
        for each in topic.partitions:
            try:
                log = replicas.partition(topic.name, each.partition_index).log
            except BrokerError:
                continue  # its answer will say so
            if not log.knows_producers:
                logs.append(log)
    return logs


async def read_and_delete(
    request: DeleteRecordsRequest, context: Context, unread: list[Log]
) -> DeleteRecordsResponse:
    for log in unread:
        try:
            await read_producers(log)
        except (BrokerError, CorruptLogError):
            pass  # whoever asks for them next is told
    outcome = delete_all(request, context)
    return await outcome if isinstance(outcome, Awaitable) else outcome


def delete_all(
    request: DeleteRecordsRequest, context: Context
) -> DeleteRecordsResponse | Awaitable[DeleteRecordsResponse]:
    deletion = Deletion(context.parts.replicas)
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name, [deletion.delete(topic.name, each) for each in topic.partitions]
            )
            for topic in request.topics
        ]
    )
    return deletion.write_down(response) if deletion.moved else response


class Deletion:
    """One request: which logs begin elsewhere now, in which directories."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas
        self.moved: dict[LogDirectory, list[DeleteRecordsPartitionResult]] = {}

    def delete(self, topic: str, wanted: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
        index = wanted.partition_index
        try:
            partition = self._replicas.partition(topic, index)
            partition.check_leader()
            low_watermark = delete_before(partition, wanted.offset)
        except BrokerError as error:
            return DeleteRecordsPartitionResult(index, UNKNOWN, error.code)
        result = DeleteRecordsPartitionResult(index, low_watermark, ErrorCode.NONE)
        directory = self._replicas.logs.directory_of(partition.name)
        if directory is not None:
            self.moved.setdefault(directory, []).append(result)
        return result

    async def write_down(self, response: DeleteRecordsResponse) -> DeleteRecordsResponse:
        for directory, results in self.moved.items():
            try:
                await asyncio.to_thread(directory.checkpoint_job().run)
            except OSError as error:
                code = directory.health.refused("writing checkpoints", error).code
                for each in results:
                    each.low_watermark, each.error_code = UNKNOWN, code
        return response


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
