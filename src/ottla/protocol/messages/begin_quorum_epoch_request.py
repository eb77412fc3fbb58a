"""Generated from schemas/begin_quorum_epoch.schema: BeginQuorumEpochRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iuiiB = Layout(">i16siiB").unpack_from
_pack_iuiix = Layout(">i16siix").pack
_unpack_iii = Layout(">iii").unpack_from
_pack_iii = Layout(">iii").pack


class BeginQuorumEpochRequest(Message):
    __slots__ = ("cluster_id", "voter_id", "topics", "leader_endpoints",)
    API_KEY = 53
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: Sequence[TopicData] = (),
        leader_endpoints: Sequence[LeaderEndpoint] = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = topics
        self.leader_endpoints = leader_endpoints


class PartitionData(Struct):
    __slots__ = ("partition_index", "voter_directory_id", "leader_id", "leader_epoch",)

    def __init__(
        self,
        partition_index: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.voter_directory_id = voter_directory_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class TopicData(Struct):
    __slots__ = ("topic_name", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class LeaderEndpoint(Struct):
    __slots__ = ("name", "host", "port",)

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, leader_id, leader_epoch = _unpack_iii(data, at)
        at += 12
        items.append(PartitionData(partition_index, ZERO_UUID, leader_id, leader_epoch))
    return items, at


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_string(data, at)
        count, at = read_count(data, at, 12)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_begin_quorum_epoch_request_v0(data: memoryview, at: int) -> tuple[BeginQuorumEpochRequest, int]:
    cluster_id, at = read_nullable_string(data, at)
    count, at = read_count(data, at, 6)
    topics, at = _read_topic_datas_v0(data, at, count) if count else ([], at)
    return BeginQuorumEpochRequest(cluster_id, -1, topics, ()), at


def _read_partition_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, voter_directory_id, leader_id, leader_epoch, more = _unpack_iuiiB(data, at)
        at += 29
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, voter_directory_id, leader_id, leader_epoch))
    return items, at


def _read_topic_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 29)
        partitions, at = _read_partition_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_leader_endpoints_v1(data: memoryview, at: int, count: int) -> tuple[list[LeaderEndpoint], int]:
    items: list[LeaderEndpoint] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        port, more = _unpack_HB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(LeaderEndpoint(name, host, port))
    return items, at


def _read_begin_quorum_epoch_request_v1(data: memoryview, at: int) -> tuple[BeginQuorumEpochRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (voter_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v1(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 5)
    leader_endpoints, at = _read_leader_endpoints_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return BeginQuorumEpochRequest(cluster_id, voter_id, topics, leader_endpoints), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_iii(item.partition_index, item.leader_id, item.leader_epoch)


def _write_topic_datas_v0(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_string(item.topic_name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_partition_datas_v0(item.partitions, out)


def _write_begin_quorum_epoch_request_v0(item: BeginQuorumEpochRequest, out: bytearray) -> None:
    write_nullable_string(item.cluster_id, out)
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_topic_datas_v0(item.topics, out)


def _write_partition_datas_v1(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_iuiix(item.partition_index, item.voter_directory_id, item.leader_id, item.leader_epoch)


def _write_topic_datas_v1(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_leader_endpoints_v1(items: Sequence[LeaderEndpoint], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_string(item.host, out)
        out += _pack_Hx(item.port)


def _write_begin_quorum_epoch_request_v1(item: BeginQuorumEpochRequest, out: bytearray) -> None:
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.voter_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v1(item.topics, out)
    else:
        out.append(1)
    if item.leader_endpoints:
        out += uvarint(len(item.leader_endpoints) + 1)
        _write_leader_endpoints_v1(item.leader_endpoints, out)
    else:
        out.append(1)
    out.append(0)


BeginQuorumEpochRequest.DECODERS = {
    0: _read_begin_quorum_epoch_request_v0,
    1: _read_begin_quorum_epoch_request_v1,
}
BeginQuorumEpochRequest.ENCODERS = {
    0: _write_begin_quorum_epoch_request_v0,
    1: _write_begin_quorum_epoch_request_v1,
}
