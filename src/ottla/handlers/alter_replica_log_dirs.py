"""AlterReplicaLogDirs (key 34), versions 1 and 2: move replicas between directories of this broker.

v2 flexible encoding. Responds when the move has begun; DescribeLogDirs shows its progress.
"""

from __future__ import annotations

from collections import defaultdict

from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.handlers.serving.chunks import chunks
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_replica_log_dirs_request import AlterReplicaLogDirsRequest
from ottla.protocol.messages.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

PARTITION_BYTES = 8  # estimate of its encoded size
Codes = dict[tuple[str, int], ErrorCode]


def refuse_alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, code: ErrorCode, _message: str
) -> AlterReplicaLogDirsResponse:
    return as_response(dict.fromkeys(run_blocking(wanted_directories(request)), code))


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS, refuse=refuse_alter_replica_log_dirs)
def alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, context: Context
) -> Steps[AlterReplicaLogDirsResponse]:
    codes: Codes = {}
    wanted = yield from wanted_directories(request)
    for (topic, index), path in wanted.items():
        try:
            context.parts.directory_moves.move(topic, index, path)
            codes[topic, index] = ErrorCode.NONE
        except BrokerError as error:
            codes[topic, index] = error.code
        yield PARTITION_BYTES
    return (yield from responding(codes))


def wanted_directories(request: AlterReplicaLogDirsRequest) -> Steps[dict[tuple[str, int], str]]:
    """If a partition has several directories, the last one is used."""
    wanted = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                wanted[topic.name, index] = directory.path
                yield 0
            yield 0
        yield 0
    return wanted


def as_response(codes: Codes) -> AlterReplicaLogDirsResponse:
    return run_blocking(responding(codes))


def responding(codes: Codes) -> Steps[AlterReplicaLogDirsResponse]:
    by_topic: dict[str, list[AlterReplicaLogDirPartitionResult]] = defaultdict(list)
    for (topic, index), code in codes.items():
        grown = 0 if topic in by_topic else len(topic)
        by_topic[topic].append(AlterReplicaLogDirPartitionResult(index, code))
        yield grown
    results: list[AlterReplicaLogDirTopicResult] = []
    for chunk in chunks(by_topic.items()):
        results += [AlterReplicaLogDirTopicResult(*each) for each in chunk]
        yield 0
    return AlterReplicaLogDirsResponse(results=results)
