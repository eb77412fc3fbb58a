"""Generated from schemas/assign_replicas_to_dirs.schema: AssignReplicasToDirsRequest, versions 0. Do not edit."""

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
_unpack_iB = Layout(">iB").unpack_from
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_pack_ix = Layout(">ix").pack


class AssignReplicasToDirsRequest(Message):
    __slots__ = ("broker_id", "broker_epoch", "directories",)
    API_KEY = 73
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: Sequence[DirectoryData] = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = directories


class PartitionData(Struct):
    __slots__ = ("partition_index",)

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


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
        partition_index, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index))
    return items, at


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 5)
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


def _read_assign_replicas_to_dirs_request_v0(data: memoryview, at: int) -> tuple[AssignReplicasToDirsRequest, int]:
    broker_id, broker_epoch = _unpack_iq(data, at)
    at += 12
    count, at = read_compact_count(data, at, 18)
    directories, at = _read_directory_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AssignReplicasToDirsRequest(broker_id, broker_epoch, directories), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ix(item.partition_index)


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


def _write_assign_replicas_to_dirs_request_v0(item: AssignReplicasToDirsRequest, out: bytearray) -> None:
    out += _pack_iq(item.broker_id, item.broker_epoch)
    if item.directories:
        out += uvarint(len(item.directories) + 1)
        _write_directory_datas_v0(item.directories, out)
    else:
        out.append(1)
    out.append(0)


AssignReplicasToDirsRequest.DECODERS = {
    0: _read_assign_replicas_to_dirs_request_v0,
}
AssignReplicasToDirsRequest.ENCODERS = {
    0: _write_assign_replicas_to_dirs_request_v0,
}
