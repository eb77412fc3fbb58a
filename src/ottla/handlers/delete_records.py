"""DeleteRecords (key 21), versions 0 to 2: delete all records before an offset.

v2 flexible encoding. -1 means the high watermark.
The response is sent when the new log start offset is stored: a crash does not restore records; and
when all living replicas have deleted the records, or the request's timeout has passed. It contains
the low watermark: the least log start offset of these replicas.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.base.scheduling.steps import Steps
from ottla.handlers.partitions.producer_loading import loading_producers
from ottla.handlers.partitions.replicated_deletion import DeletedRecords, ReplicatedDeletion
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.parts import Parts
from ottla.handlers.serving.registry import Deferred, handles
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
from ottla.storage.log.log import Log

HIGH_WATERMARK = -1
UNKNOWN = -1
ANSWER_BYTES = 15  # of one partition


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


@handles(ApiKey.DELETE_RECORDS, refuse=refuse_delete_records)
def delete_records(
    request: DeleteRecordsRequest, context: Context
) -> Steps[DeleteRecordsResponse | Awaitable[DeleteRecordsResponse] | Deferred]:
    unread = yield from finding_unread(request, context.parts.replicas)
    if unread:
        return Deferred(read_and_delete(request, context, unread))
    return (yield from deleting(request, context))


def finding_unread(request: DeleteRecordsRequest, replicas: ReplicaManager) -> Steps[list[Log]]:
    """Logs whose producer state must be read from files first."""
    logs: dict[Log, None] = {}
    for topic in request.topics:
        yield 0
        for each in topic.partitions:
            yield 0
            try:
                log = replicas.partition(topic.name, each.partition_index).log
            except BrokerError:
                continue  # its response will have the error
            if not log.producers.is_loaded:
                logs[log] = None
    return list(logs)


async def read_and_delete(
    request: DeleteRecordsRequest, context: Context, unread: list[Log]
) -> DeleteRecordsResponse:
    await context.parts.scheduler.run(loading_producers(unread))
    outcome = await context.parts.scheduler.run(deleting(request, context))
    return await outcome if isinstance(outcome, Awaitable) else outcome


def deleting(
    request: DeleteRecordsRequest, context: Context
) -> Steps[DeleteRecordsResponse | Awaitable[DeleteRecordsResponse]]:
    deletion = Deletion(context.parts, request.timeout_ms)
    topics = []
    for topic in request.topics:
        answers: list[DeleteRecordsPartitionResult] = []
        topics.append(DeleteRecordsTopicResult(topic.name, answers))
        yield len(topic.name)
        for each in topic.partitions:
            answers.append(deletion.delete(topic.name, each))
            yield ANSWER_BYTES
    response = DeleteRecordsResponse(topics=topics)
    return deletion.finish(response) if deletion.moved else response


class Deletion:
    """One request: the logs with a new start offset, by directory."""

    def __init__(self, parts: Parts, timeout_ms: int) -> None:
        self._parts = parts
        self._replicas = parts.replicas
        self._timeout_ms = timeout_ms
        self.moved: dict[LogDirectory, list[DeleteRecordsPartitionResult]] = {}
        self._elsewhere: list[DeletedRecords] = []  # other replicas have these records

    def delete(self, topic: str, wanted: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
        index = wanted.partition_index
        try:
            partition = self._replicas.partition(topic, index)
            partition.check_leader()
            before = delete_before(partition, wanted.offset)
            low_watermark = self._parts.low_watermarks.of(partition)
        except BrokerError as error:
            return DeleteRecordsPartitionResult(index, UNKNOWN, error.code)
        result = DeleteRecordsPartitionResult(index, low_watermark, ErrorCode.NONE)
        directory = self._replicas.logs.directory_of(partition.name)
        if directory is not None:
            self.moved.setdefault(directory, []).append(result)
            if low_watermark < before:
                self._elsewhere.append(DeletedRecords(partition, before, result))
        return result

    async def finish(self, response: DeleteRecordsResponse) -> DeleteRecordsResponse:
        await self._write_down()
        if self._elsewhere:
            parts = self._parts
            deleting = ReplicatedDeletion(parts.low_watermarks, parts.timers, parts.scheduler)
            await deleting.wait(self._elsewhere, self._timeout_ms)
        return response

    async def _write_down(self) -> None:
        for directory, results in self.moved.items():
            try:
                await self._parts.scheduler.run(directory.table.writing_checkpoints())
            except OSError as error:
                code = directory.health.refused("writing checkpoints", error).code
                for each in results:
                    each.low_watermark, each.error_code = UNKNOWN, code


def delete_before(partition: Partition, offset: int) -> int:
    """The offset before which all is deleted; waiting fetches and followers are notified."""
    log = partition.log
    if not log.config.is_deleted and log.config.is_compacted:
        raise BrokerError(ErrorCode.POLICY_VIOLATION)
    before = log.high_watermark if offset == HIGH_WATERMARK else offset
    if before < 0 or before > log.high_watermark:
        raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if log.advance_log_start(before):
        partition.announce()
    partition.notify_log_start()  # followers may not know of an earlier deletion either
    return before
