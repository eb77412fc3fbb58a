"""Generated from schemas/share_acknowledge.schema: ShareAcknowledgeResponse, versions 1-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_iiB = Layout(">iiB").unpack_from
_pack_iix = Layout(">iix").pack


class ShareAcknowledgeResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses", "node_endpoints",)
    API_KEY = 79
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareAcknowledgeTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = responses
        self.node_endpoints = node_endpoints


class LeaderIdAndEpoch(Struct):
    __slots__ = ("leader_id", "leader_epoch",)

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "error_message", "current_leader",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch() if current_leader is None else current_leader


class ShareAcknowledgeTopicResponse(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class NodeEndpoint(Struct):
    __slots__ = ("node_id", "host", "port", "rack",)

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


def _read_leader_id_and_epoch_v1(data: memoryview, at: int) -> tuple[LeaderIdAndEpoch, int]:
    leader_id, leader_epoch, more = _unpack_iiB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return LeaderIdAndEpoch(leader_id, leader_epoch), at


def _read_partition_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        current_leader, at = _read_leader_id_and_epoch_v1(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionData(partition_index, error_code, error_message, current_leader))
    return items, at


def _read_share_acknowledge_topic_responses_v1(data: memoryview, at: int, count: int) -> tuple[list[ShareAcknowledgeTopicResponse], int]:
    items: list[ShareAcknowledgeTopicResponse] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 17)
        partitions, at = _read_partition_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ShareAcknowledgeTopicResponse(topic_id, partitions))
    return items, at


def _read_node_endpoints_v1(data: memoryview, at: int, count: int) -> tuple[list[NodeEndpoint], int]:
    items: list[NodeEndpoint] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        (port,) = _unpack_i(data, at)
        at += 4
        rack: str | None = None
        if data[at]:
            rack, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(NodeEndpoint(node_id, host, port, rack))
    return items, at


def _read_share_acknowledge_response_v1(data: memoryview, at: int) -> tuple[ShareAcknowledgeResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 18)
    responses, at = _read_share_acknowledge_topic_responses_v1(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 11)
    node_endpoints, at = _read_node_endpoints_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareAcknowledgeResponse(throttle_time_ms, error_code, error_message, 0, responses, node_endpoints), at


def _read_share_acknowledge_response_v2(data: memoryview, at: int) -> tuple[ShareAcknowledgeResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    (acquisition_lock_timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 18)
    responses, at = _read_share_acknowledge_topic_responses_v1(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 11)
    node_endpoints, at = _read_node_endpoints_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareAcknowledgeResponse(throttle_time_ms, error_code, error_message, acquisition_lock_timeout_ms, responses, node_endpoints), at


def _write_leader_id_and_epoch_v1(item: LeaderIdAndEpoch, out: bytearray) -> None:
    out += _pack_iix(item.leader_id, item.leader_epoch)


def _write_partition_datas_v1(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        _write_leader_id_and_epoch_v1(item.current_leader, out)
        out.append(0)


def _write_share_acknowledge_topic_responses_v1(items: Sequence[ShareAcknowledgeTopicResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
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
        out += _pack_i(item.port)
        if item.rack is None:
            out.append(0)
        else:
            write_compact_string(item.rack, out)
        out.append(0)


def _write_share_acknowledge_response_v1(item: ShareAcknowledgeResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_share_acknowledge_topic_responses_v1(item.responses, out)
    else:
        out.append(1)
    if item.node_endpoints:
        out += uvarint(len(item.node_endpoints) + 1)
        _write_node_endpoints_v1(item.node_endpoints, out)
    else:
        out.append(1)
    out.append(0)


def _write_share_acknowledge_response_v2(item: ShareAcknowledgeResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    out += _pack_i(item.acquisition_lock_timeout_ms)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_share_acknowledge_topic_responses_v1(item.responses, out)
    else:
        out.append(1)
    if item.node_endpoints:
        out += uvarint(len(item.node_endpoints) + 1)
        _write_node_endpoints_v1(item.node_endpoints, out)
    else:
        out.append(1)
    out.append(0)


ShareAcknowledgeResponse.DECODERS = {
    1: _read_share_acknowledge_response_v1,
    2: _read_share_acknowledge_response_v2,
}
ShareAcknowledgeResponse.ENCODERS = {
    1: _write_share_acknowledge_response_v1,
    2: _write_share_acknowledge_response_v2,
}
