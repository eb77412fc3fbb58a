"""Generated from schemas/alter_replica_log_dirs.schema: AlterReplicaLogDirsResponse, versions 1-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack
_pack_ii = Layout(">ii").pack


class AlterReplicaLogDirsResponse(Message):
    __slots__ = ("throttle_time_ms", "results",)
    API_KEY = 34
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterReplicaLogDirTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results


class AlterReplicaLogDirPartitionResult(Struct):
    __slots__ = ("partition_index", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class AlterReplicaLogDirTopicResult(Struct):
    __slots__ = ("topic_name", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[AlterReplicaLogDirPartitionResult] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


def _read_alter_replica_log_dir_partition_results_v1(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDirPartitionResult], int]:
    items: list[AlterReplicaLogDirPartitionResult] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        items.append(AlterReplicaLogDirPartitionResult(partition_index, error_code))
    return items, at


def _read_alter_replica_log_dir_topic_results_v1(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDirTopicResult], int]:
    items: list[AlterReplicaLogDirTopicResult] = []
    for _ in range(count):
        topic_name, at = read_string(data, at)
        count, at = read_count(data, at, 6)
        partitions, at = _read_alter_replica_log_dir_partition_results_v1(data, at, count) if count else ([], at)
        items.append(AlterReplicaLogDirTopicResult(topic_name, partitions))
    return items, at


def _read_alter_replica_log_dirs_response_v1(data: memoryview, at: int) -> tuple[AlterReplicaLogDirsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    results, at = _read_alter_replica_log_dir_topic_results_v1(data, at, count) if count else ([], at)
    return AlterReplicaLogDirsResponse(throttle_time_ms, results), at


def _read_alter_replica_log_dir_partition_results_v2(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDirPartitionResult], int]:
    items: list[AlterReplicaLogDirPartitionResult] = []
    for _ in range(count):
        partition_index, error_code, more = _unpack_ihB(data, at)
        at += 7
        if more:
            at = skip_tags(data, at - 1)
        items.append(AlterReplicaLogDirPartitionResult(partition_index, error_code))
    return items, at


def _read_alter_replica_log_dir_topic_results_v2(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDirTopicResult], int]:
    items: list[AlterReplicaLogDirTopicResult] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 7)
        partitions, at = _read_alter_replica_log_dir_partition_results_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterReplicaLogDirTopicResult(topic_name, partitions))
    return items, at


def _read_alter_replica_log_dirs_response_v2(data: memoryview, at: int) -> tuple[AlterReplicaLogDirsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    results, at = _read_alter_replica_log_dir_topic_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterReplicaLogDirsResponse(throttle_time_ms, results), at


def _write_alter_replica_log_dir_partition_results_v1(items: Sequence[AlterReplicaLogDirPartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)


def _write_alter_replica_log_dir_topic_results_v1(items: Sequence[AlterReplicaLogDirTopicResult], out: bytearray) -> None:
    for item in items:
        write_string(item.topic_name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_alter_replica_log_dir_partition_results_v1(item.partitions, out)


def _write_alter_replica_log_dirs_response_v1(item: AlterReplicaLogDirsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.results))
    if item.results:
        _write_alter_replica_log_dir_topic_results_v1(item.results, out)


def _write_alter_replica_log_dir_partition_results_v2(items: Sequence[AlterReplicaLogDirPartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ihx(item.partition_index, item.error_code)


def _write_alter_replica_log_dir_topic_results_v2(items: Sequence[AlterReplicaLogDirTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_alter_replica_log_dir_partition_results_v2(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_replica_log_dirs_response_v2(item: AlterReplicaLogDirsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_alter_replica_log_dir_topic_results_v2(item.results, out)
    else:
        out.append(1)
    out.append(0)


AlterReplicaLogDirsResponse.DECODERS = {
    1: _read_alter_replica_log_dirs_response_v1,
    2: _read_alter_replica_log_dirs_response_v2,
}
AlterReplicaLogDirsResponse.ENCODERS = {
    1: _write_alter_replica_log_dirs_response_v1,
    2: _write_alter_replica_log_dirs_response_v2,
}
