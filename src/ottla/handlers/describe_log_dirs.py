"""DescribeLogDirs (key 35), versions 1 to 5: bytes by directory and partition.

v2 flexible encoding · v3 top-level error · v4 total and usable bytes · v5 cordoned directories
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.handlers.context import Context
from ottla.handlers.registry import handles
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


@handles(ApiKey.DESCRIBE_LOG_DIRS, versions=range(1, 6))
def describe_log_dirs(request: DescribeLogDirsRequest, context: Context) -> DescribeLogDirsResponse:
    wanted = None
    if request.topics is not None:
        wanted = {(t.topic, index) for t in request.topics for index in t.partitions}
    logs = context.parts.replicas.logs
    return DescribeLogDirsResponse(
        results=[describe(each, wanted, logs) for each in logs.directories]
    )


def describe(
    directory: LogDirectory, wanted: set[tuple[str, int]] | None, logs: LogManager
) -> DescribeLogDirsResult:
    if not directory.health.is_online:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, directory.path)
    try:
        space = directory.files.space(directory.path)
    except OSError:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, directory.path)
    return DescribeLogDirsResult(
        ErrorCode.NONE,
        directory.path,
        topics(directory, wanted, logs),
        space.total_bytes,
        space.free_bytes,
    )


def topics(
    directory: LogDirectory, wanted: set[tuple[str, int]] | None, manager: LogManager
) -> list[DescribeLogDirsTopic]:
    found: dict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    for logs, is_future in ((directory.logs, False), (directory.future_logs, True)):
        for name, log in selected(logs.items(), wanted):
            lag = lag_of_future(log, manager) if is_future else log_lag(log)
            found[name.topic].append(
                DescribeLogDirsPartition(name.partition, log.size_bytes, lag, is_future)
            )
    return [DescribeLogDirsTopic(name, partitions) for name, partitions in found.items()]


def selected(
    logs: Iterable[tuple[TopicPartition, Log]], wanted: set[tuple[str, int]] | None
) -> Iterable[tuple[TopicPartition, Log]]:
    return (each for each in logs if wanted is None or each[0] in wanted)


def log_lag(log: Log) -> int:
    """What is not replicated yet."""
    return max(0, log.high_watermark - log.log_end_offset)


def lag_of_future(log: Log, manager: LogManager) -> int:
    """What is still to be moved."""
    try:
        current = manager.get(log.partition)
    except BrokerError:  # its directory has failed
        return UNKNOWN_LAG
    return UNKNOWN_LAG if current is None else max(0, current.log_end_offset - log.log_end_offset)
