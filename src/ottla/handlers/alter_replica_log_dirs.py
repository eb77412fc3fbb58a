"""AlterReplicaLogDirs (key 34), versions 1 and 2: move replicas between directories of this broker.

v2 flexible encoding. Answered when the move has begun; DescribeLogDirs tells how far it is.
"""

from __future__ import annotations

from collections import defaultdict

from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_replica_log_dirs_request import AlterReplicaLogDirsRequest
from ottla.protocol.messages.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

Codes = dict[tuple[str, int], ErrorCode]


def refuse_alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, code: ErrorCode, _message: str
) -> AlterReplicaLogDirsResponse:
    return as_response(dict.fromkeys(wanted_places(request), code))


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS, versions=range(1, 3), refuse=refuse_alter_replica_log_dirs)
def alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, context: Context
) -> AlterReplicaLogDirsResponse:
    codes: Codes = {}
    for (topic, index), path in wanted_places(request).items():
        try:
            context.parts.directory_moves.move(topic, index, path)
            codes[topic, index] = ErrorCode.NONE
        except BrokerError as error:
            codes[topic, index] = error.code
    return as_response(codes)


def wanted_places(request: AlterReplicaLogDirsRequest) -> dict[tuple[str, int], str]:
    """Of two directories for one partition the last counts."""
    return {
        (topic.name, index): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for index in topic.partitions
    }


def as_response(codes: Codes) -> AlterReplicaLogDirsResponse:
    by_topic: dict[str, list[AlterReplicaLogDirPartitionResult]] = defaultdict(list)
    for (topic, index), code in codes.items():
        by_topic[topic].append(AlterReplicaLogDirPartitionResult(index, code))
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(*each) for each in by_topic.items()]
    )
