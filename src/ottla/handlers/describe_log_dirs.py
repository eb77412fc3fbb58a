"""DescribeLogDirs (key 35), versions 1 to 5: bytes by directory and partition.

v2 flexible encoding · v3 top-level error · v4 total and usable bytes · v5 cordoned directories
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Collection, Iterable, Mapping
from functools import partial

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.chunks import chunks
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from ottla.protocol.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.log.log import Log

UNKNOWN_LAG = -1
TOPIC_BYTES, PARTITION_BYTES = 32, 24  # estimates of their encoded size


@handles(ApiKey.DESCRIBE_LOG_DIRS)
def describe_log_dirs(
    request: DescribeLogDirsRequest, context: Context
) -> Steps[Awaitable[DescribeLogDirsResponse]]:
    wanted = yield from wanted_partitions(request)
    logs = context.parts.replicas.logs
    found = []
    for directory in logs.directories:
        topics: list[DescribeLogDirsTopic] = []
        if directory.health.is_online:
            topics = yield from described_topics(directory, wanted, logs)
        found.append((directory, topics))
    return with_space(found, context.parts.scheduler)


def wanted_partitions(
    request: DescribeLogDirsRequest,
) -> Steps[dict[TopicPartition, None] | None]:
    """Without duplicates; None for all."""
    if request.topics is None:
        return None
    wanted: dict[TopicPartition, None] = {}
    for topic in request.topics:
        for index in topic.partitions:
            wanted[TopicPartition(topic.topic, index)] = None
            yield 0
        yield 0
    return wanted


async def with_space(
    found: Iterable[tuple[LogDirectory, list[DescribeLogDirsTopic]]], scheduler: StepScheduler
) -> DescribeLogDirsResponse:
    """A thread determines the free space: a disk that hangs would block the event loop."""
    results = [await scheduler.in_thread(partial(describe, *each)) for each in found]
    return DescribeLogDirsResponse(results=results)


def describe(directory: LogDirectory, topics: list[DescribeLogDirsTopic]) -> DescribeLogDirsResult:
    if not directory.health.is_online:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, directory.path)
    try:
        space = directory.files.space(directory.path)
    except OSError:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, directory.path)
    return DescribeLogDirsResult(
        ErrorCode.NONE, directory.path, topics, space.total_bytes, space.free_bytes
    )


def described_topics(
    directory: LogDirectory, wanted: Collection[TopicPartition] | None, manager: LogManager
) -> Steps[list[DescribeLogDirsTopic]]:
    found: dict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    for logs, is_future in ((directory.logs, False), (directory.future_logs, True)):
        for name in names_among(logs, wanted):
            log = logs.get(name)
            grown = 0
            if log is not None:
                lag = lag_of_future(log, manager) if is_future else log_lag(log)
                described = DescribeLogDirsPartition(name.partition, log.size_bytes, lag, is_future)
                grown = PARTITION_BYTES if name.topic in found else TOPIC_BYTES + len(name.topic)
                found[name.topic].append(described)
            yield grown
    topics: list[DescribeLogDirsTopic] = []
    for chunk in chunks(found.items()):
        topics += [DescribeLogDirsTopic(*each) for each in chunk]
        yield 0
    return topics


def names_among(
    logs: Mapping[TopicPartition, Log], wanted: Collection[TopicPartition] | None
) -> Iterable[TopicPartition]:
    """The requested logs, or all."""
    if wanted is None:
        return list(logs)
    return wanted if logs else ()


def log_lag(log: Log) -> int:
    """Bytes that are not replicated yet."""
    return max(0, log.high_watermark - log.log_end_offset)


def lag_of_future(log: Log, manager: LogManager) -> int:
    """Bytes that are still to be moved."""
    try:
        current = manager.get(log.partition)
    except BrokerError:  # its directory has failed
        return UNKNOWN_LAG
    return UNKNOWN_LAG if current is None else max(0, current.log_end_offset - log.log_end_offset)
