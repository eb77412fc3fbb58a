"""Generated from schemas/end_quorum_epoch.schema: EndQuorumEpochResponse, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
    write_tags,
)

_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_pack_hi = Layout(">hi").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ihii = Layout(">ihii").unpack_from
_pack_ihii = Layout(">ihii").pack
_unpack_ihiiB = Layout(">ihiiB").unpack_from
_pack_ihiix = Layout(">ihiix").pack


class EndQuorumEpochResponse(Message):
    __slots__ = ("error_code", "topics", "node_endpoints",)
    API_KEY = 54
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        error_code: int = 0,
        topics: Sequence[TopicData] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.error_code = error_code
        self.topics = topics
        self.node_endpoints = node_endpoints


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
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


class NodeEndpoint(Struct):
    __slots__ = ("node_id", "host", "port",)

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, leader_id, leader_epoch = _unpack_ihii(data, at)
        at += 14
        items.append(PartitionData(partition_index, error_code, leader_id, leader_epoch))
    return items, at


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_string(data, at)
        count, at = read_count(data, at, 14)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_end_quorum_epoch_response_v0(data: memoryview, at: int) -> tuple[EndQuorumEpochResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_count(data, at, 6)
    topics, at = _read_topic_datas_v0(data, at, count) if count else ([], at)
    return EndQuorumEpochResponse(error_code, topics, ()), at


def _read_partition_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, leader_id, leader_epoch, more = _unpack_ihiiB(data, at)
        at += 15
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, error_code, leader_id, leader_epoch))
    return items, at


def _read_topic_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 15)
        partitions, at = _read_partition_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_node_endpoints_v1(data: memoryview, at: int, count: int) -> tuple[list[NodeEndpoint], int]:
    items: list[NodeEndpoint] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        port, more = _unpack_HB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(NodeEndpoint(node_id, host, port))
    return items, at


def _read_end_quorum_epoch_response_v1(data: memoryview, at: int) -> tuple[EndQuorumEpochResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v1(data, at, count) if count else ([], at)
    node_endpoints: Sequence[NodeEndpoint] = ()
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                count, at = read_compact_count(data, at, 8)
                node_endpoints, at = _read_node_endpoints_v1(data, at, count) if count else ([], at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return EndQuorumEpochResponse(error_code, topics, node_endpoints), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ihii(item.partition_index, item.error_code, item.leader_id, item.leader_epoch)


def _write_topic_datas_v0(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_string(item.topic_name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_partition_datas_v0(item.partitions, out)


def _write_end_quorum_epoch_response_v0(item: EndQuorumEpochResponse, out: bytearray) -> None:
    if item.node_endpoints:
        refuse_field("EndQuorumEpochResponse.node_endpoints")
    out += _pack_hi(item.error_code, len(item.topics))
    if item.topics:
        _write_topic_datas_v0(item.topics, out)


def _write_partition_datas_v1(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ihiix(item.partition_index, item.error_code, item.leader_id, item.leader_epoch)


def _write_topic_datas_v1(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_node_endpoints_v1(items: Sequence[NodeEndpoint], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        write_compact_string(item.host, out)
        out += _pack_Hx(item.port)


def _write_end_quorum_epoch_response_v1(item: EndQuorumEpochResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v1(item.topics, out)
    else:
        out.append(1)
    if not (item.node_endpoints):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.node_endpoints:
            value = bytearray()
            if item.node_endpoints:
                value += uvarint(len(item.node_endpoints) + 1)
                _write_node_endpoints_v1(item.node_endpoints, value)
            else:
                value.append(1)
            tags.append((0, value))
        write_tags(tags, out)


EndQuorumEpochResponse.DECODERS = {
    0: _read_end_quorum_epoch_response_v0,
    1: _read_end_quorum_epoch_response_v1,
}
EndQuorumEpochResponse.ENCODERS = {
    0: _write_end_quorum_epoch_response_v0,
    1: _write_end_quorum_epoch_response_v1,
}
