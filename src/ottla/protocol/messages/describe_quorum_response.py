"""Generated from schemas/describe_quorum.schema: DescribeQuorumResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iuqqqB = Layout(">i16sqqqB").unpack_from
_pack_iuqqqx = Layout(">i16sqqqx").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihiiq = Layout(">ihiiq").unpack_from
_pack_ihiiq = Layout(">ihiiq").pack
_unpack_iiq = Layout(">iiq").unpack_from
_pack_iiq = Layout(">iiq").pack
_unpack_iqB = Layout(">iqB").unpack_from
_unpack_iqqqB = Layout(">iqqqB").unpack_from
_pack_iqqqx = Layout(">iqqqx").pack
_pack_iqx = Layout(">iqx").pack


class DescribeQuorumResponse(Message):
    __slots__ = ("error_code", "error_message", "topics", "nodes",)
    API_KEY = 55
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[TopicData] = (),
        nodes: Sequence[Node] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics
        self.nodes = nodes


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "error_message", "leader_id", "leader_epoch", "high_watermark", "current_voters", "observers",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: Sequence[ReplicaState] = (),
        observers: Sequence[ReplicaState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = current_voters
        self.observers = observers


class TopicData(Struct):
    __slots__ = ("topic_name", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class Listener(Struct):
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


class Node(Struct):
    __slots__ = ("node_id", "listeners",)

    def __init__(
        self,
        node_id: int = 0,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.node_id = node_id
        self.listeners = listeners


class ReplicaState(Struct):
    __slots__ = ("replica_id", "replica_directory_id", "log_end_offset", "last_fetch_timestamp", "last_caught_up_timestamp",)

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp


def _read_replica_states_v0(data: memoryview, at: int, count: int) -> tuple[list[ReplicaState], int]:
    items: list[ReplicaState] = []
    for _ in range(count):
        replica_id, log_end_offset, more = _unpack_iqB(data, at)
        at += 13
        if more:
            at = skip_tags(data, at - 1)
        items.append(ReplicaState(replica_id, ZERO_UUID, log_end_offset, -1, -1))
    return items, at


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, leader_id, leader_epoch, high_watermark = _unpack_ihiiq(data, at)
        at += 22
        count, at = read_compact_count(data, at, 13)
        current_voters, at = _read_replica_states_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 13)
        observers, at = _read_replica_states_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionData(partition_index, error_code, "", leader_id, leader_epoch, high_watermark, current_voters, observers))
    return items, at


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 25)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_describe_quorum_response_v0(data: memoryview, at: int) -> tuple[DescribeQuorumResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeQuorumResponse(error_code, "", topics, ()), at


def _read_replica_states_v1(data: memoryview, at: int, count: int) -> tuple[list[ReplicaState], int]:
    items: list[ReplicaState] = []
    for _ in range(count):
        replica_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp, more = _unpack_iqqqB(data, at)
        at += 29
        if more:
            at = skip_tags(data, at - 1)
        items.append(ReplicaState(replica_id, ZERO_UUID, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp))
    return items, at


def _read_partition_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, leader_id, leader_epoch, high_watermark = _unpack_ihiiq(data, at)
        at += 22
        count, at = read_compact_count(data, at, 29)
        current_voters, at = _read_replica_states_v1(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 29)
        observers, at = _read_replica_states_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionData(partition_index, error_code, "", leader_id, leader_epoch, high_watermark, current_voters, observers))
    return items, at


def _read_topic_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 25)
        partitions, at = _read_partition_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_describe_quorum_response_v1(data: memoryview, at: int) -> tuple[DescribeQuorumResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeQuorumResponse(error_code, "", topics, ()), at


def _read_replica_states_v2(data: memoryview, at: int, count: int) -> tuple[list[ReplicaState], int]:
    items: list[ReplicaState] = []
    for _ in range(count):
        replica_id, replica_directory_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp, more = _unpack_iuqqqB(data, at)
        at += 45
        if more:
            at = skip_tags(data, at - 1)
        items.append(ReplicaState(replica_id, replica_directory_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp))
    return items, at


def _read_partition_datas_v2(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        leader_id, leader_epoch, high_watermark = _unpack_iiq(data, at)
        at += 16
        count, at = read_compact_count(data, at, 45)
        current_voters, at = _read_replica_states_v2(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 45)
        observers, at = _read_replica_states_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionData(partition_index, error_code, error_message, leader_id, leader_epoch, high_watermark, current_voters, observers))
    return items, at


def _read_topic_datas_v2(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 26)
        partitions, at = _read_partition_datas_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_listeners_v2(data: memoryview, at: int, count: int) -> tuple[list[Listener], int]:
    items: list[Listener] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        port, more = _unpack_HB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(Listener(name, host, port))
    return items, at


def _read_nodes_v2(data: memoryview, at: int, count: int) -> tuple[list[Node], int]:
    items: list[Node] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_count(data, at, 5)
        listeners, at = _read_listeners_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Node(node_id, listeners))
    return items, at


def _read_describe_quorum_response_v2(data: memoryview, at: int) -> tuple[DescribeQuorumResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v2(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 6)
    nodes, at = _read_nodes_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeQuorumResponse(error_code, error_message, topics, nodes), at


def _write_replica_states_v0(items: Sequence[ReplicaState], out: bytearray) -> None:
    for item in items:
        if item.replica_directory_id != ZERO_UUID:
            refuse_field("ReplicaState.replica_directory_id")
        out += _pack_iqx(item.replica_id, item.log_end_offset)


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ihiiq(item.partition_index, item.error_code, item.leader_id, item.leader_epoch, item.high_watermark)
        if item.current_voters:
            out += uvarint(len(item.current_voters) + 1)
            _write_replica_states_v0(item.current_voters, out)
        else:
            out.append(1)
        if item.observers:
            out += uvarint(len(item.observers) + 1)
            _write_replica_states_v0(item.observers, out)
        else:
            out.append(1)
        out.append(0)


def _write_topic_datas_v0(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_quorum_response_v0(item: DescribeQuorumResponse, out: bytearray) -> None:
    if item.nodes:
        refuse_field("DescribeQuorumResponse.nodes")
    out += _pack_h(item.error_code)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_replica_states_v1(items: Sequence[ReplicaState], out: bytearray) -> None:
    for item in items:
        if item.replica_directory_id != ZERO_UUID:
            refuse_field("ReplicaState.replica_directory_id")
        out += _pack_iqqqx(item.replica_id, item.log_end_offset, item.last_fetch_timestamp, item.last_caught_up_timestamp)


def _write_partition_datas_v1(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ihiiq(item.partition_index, item.error_code, item.leader_id, item.leader_epoch, item.high_watermark)
        if item.current_voters:
            out += uvarint(len(item.current_voters) + 1)
            _write_replica_states_v1(item.current_voters, out)
        else:
            out.append(1)
        if item.observers:
            out += uvarint(len(item.observers) + 1)
            _write_replica_states_v1(item.observers, out)
        else:
            out.append(1)
        out.append(0)


def _write_topic_datas_v1(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_quorum_response_v1(item: DescribeQuorumResponse, out: bytearray) -> None:
    if item.nodes:
        refuse_field("DescribeQuorumResponse.nodes")
    out += _pack_h(item.error_code)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v1(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_replica_states_v2(items: Sequence[ReplicaState], out: bytearray) -> None:
    for item in items:
        out += _pack_iuqqqx(item.replica_id, item.replica_directory_id, item.log_end_offset, item.last_fetch_timestamp, item.last_caught_up_timestamp)


def _write_partition_datas_v2(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_iiq(item.leader_id, item.leader_epoch, item.high_watermark)
        if item.current_voters:
            out += uvarint(len(item.current_voters) + 1)
            _write_replica_states_v2(item.current_voters, out)
        else:
            out.append(1)
        if item.observers:
            out += uvarint(len(item.observers) + 1)
            _write_replica_states_v2(item.observers, out)
        else:
            out.append(1)
        out.append(0)


def _write_topic_datas_v2(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v2(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_listeners_v2(items: Sequence[Listener], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_string(item.host, out)
        out += _pack_Hx(item.port)


def _write_nodes_v2(items: Sequence[Node], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        if item.listeners:
            out += uvarint(len(item.listeners) + 1)
            _write_listeners_v2(item.listeners, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_quorum_response_v2(item: DescribeQuorumResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v2(item.topics, out)
    else:
        out.append(1)
    if item.nodes:
        out += uvarint(len(item.nodes) + 1)
        _write_nodes_v2(item.nodes, out)
    else:
        out.append(1)
    out.append(0)


DescribeQuorumResponse.DECODERS = {
    0: _read_describe_quorum_response_v0,
    1: _read_describe_quorum_response_v1,
    2: _read_describe_quorum_response_v2,
}
DescribeQuorumResponse.ENCODERS = {
    0: _write_describe_quorum_response_v0,
    1: _write_describe_quorum_response_v1,
    2: _write_describe_quorum_response_v2,
}
