"""Generated from schemas/assign_replicas_to_dirs.schema: AssignReplicasToDirsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    skip_tags,
    uvarint,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack


class AssignReplicasToDirsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "directories",)
    API_KEY = 73
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: Sequence[DirectoryData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.directories = directories


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class TopicData(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class DirectoryData(Struct):
    __slots__ = ("id", "topics",)

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.id = id
        self.topics = topics


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, more = _unpack_ihB(data, at)
        at += 7
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, error_code))
    return items, at


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 7)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_id, partitions))
    return items, at


def _read_directory_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[DirectoryData], int]:
    items: list[DirectoryData] = []
    for _ in range(count):
        (id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 18)
        topics, at = _read_topic_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DirectoryData(id, topics))
    return items, at


def _read_assign_replicas_to_dirs_response_v0(data: memoryview, at: int) -> tuple[AssignReplicasToDirsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 18)
    directories, at = _read_directory_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AssignReplicasToDirsResponse(throttle_time_ms, error_code, directories), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ihx(item.partition_index, item.error_code)


def _write_topic_datas_v0(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_directory_datas_v0(items: Sequence[DirectoryData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.id)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_topic_datas_v0(item.topics, out)
        else:
            out.append(1)
        out.append(0)


def _write_assign_replicas_to_dirs_response_v0(item: AssignReplicasToDirsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.directories:
        out += uvarint(len(item.directories) + 1)
        _write_directory_datas_v0(item.directories, out)
    else:
        out.append(1)
    out.append(0)


AssignReplicasToDirsResponse.DECODERS = {
    0: _read_assign_replicas_to_dirs_response_v0,
}
AssignReplicasToDirsResponse.ENCODERS = {
    0: _write_assign_replicas_to_dirs_response_v0,
}
