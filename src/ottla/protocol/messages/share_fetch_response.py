"""Generated from schemas/share_fetch.schema: ShareFetchResponse, versions 1-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import FrameSegment, RecordsMessage, Struct, refuse_null_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_view,
    refuse_null,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_iiB = Layout(">iiB").unpack_from
_pack_iix = Layout(">iix").pack
_unpack_qqhB = Layout(">qqhB").unpack_from
_pack_qqhx = Layout(">qqhx").pack


class ShareFetchResponse(RecordsMessage):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses", "node_endpoints",)
    API_KEY = 78
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareFetchableTopicResponse] = (),
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


class AcquiredRecords(Struct):
    __slots__ = ("first_offset", "last_offset", "delivery_count",)

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "error_message", "acknowledge_error_code", "acknowledge_error_message", "current_leader", "records", "acquired_records",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        records: FrameSegment = b"",
        acquired_records: Sequence[AcquiredRecords] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.records = records
        self.acquired_records = acquired_records


class ShareFetchableTopicResponse(Struct):
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


def _read_acquired_recordss_v1(data: memoryview, at: int, count: int) -> tuple[list[AcquiredRecords], int]:
    items: list[AcquiredRecords] = []
    for _ in range(count):
        first_offset, last_offset, delivery_count, more = _unpack_qqhB(data, at)
        at += 19
        if more:
            at = skip_tags(data, at - 1)
        items.append(AcquiredRecords(first_offset, last_offset, delivery_count))
    return items, at


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
        (acknowledge_error_code,) = _unpack_h(data, at)
        at += 2
        acknowledge_error_message: str | None = None
        if data[at]:
            acknowledge_error_message, at = read_compact_string(data, at)
        else:
            at += 1
        current_leader, at = _read_leader_id_and_epoch_v1(data, at)
        records, at = read_compact_view(data, at)
        if records is None:
            refuse_null("records", at)
        count, at = read_compact_count(data, at, 19)
        acquired_records, at = _read_acquired_recordss_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionData(partition_index, error_code, error_message, acknowledge_error_code, acknowledge_error_message, current_leader, records, acquired_records))
    return items, at


def _read_share_fetchable_topic_responses_v1(data: memoryview, at: int, count: int) -> tuple[list[ShareFetchableTopicResponse], int]:
    items: list[ShareFetchableTopicResponse] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 22)
        partitions, at = _read_partition_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ShareFetchableTopicResponse(topic_id, partitions))
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


def _read_share_fetch_response_v1(data: memoryview, at: int) -> tuple[ShareFetchResponse, int]:
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
    responses, at = _read_share_fetchable_topic_responses_v1(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 11)
    node_endpoints, at = _read_node_endpoints_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareFetchResponse(throttle_time_ms, error_code, error_message, acquisition_lock_timeout_ms, responses, node_endpoints), at


def _write_leader_id_and_epoch_v1(item: LeaderIdAndEpoch, out: bytearray) -> None:
    out += _pack_iix(item.leader_id, item.leader_epoch)


def _write_acquired_recordss_v1(items: Sequence[AcquiredRecords], out: bytearray) -> None:
    for item in items:
        out += _pack_qqhx(item.first_offset, item.last_offset, item.delivery_count)


def _write_partition_datas_v1(items: Sequence[PartitionData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_h(item.acknowledge_error_code)
        if item.acknowledge_error_message is None:
            out.append(0)
        else:
            write_compact_string(item.acknowledge_error_message, out)
        _write_leader_id_and_epoch_v1(item.current_leader, out)
        if item.records is None:
            refuse_null_field("PartitionData.records")
        out += uvarint(0 if item.records is None else len(item.records) + 1)
        if item.records:
            segments.append(out)
            segments.append(item.records)
            out = bytearray()
        if item.acquired_records:
            out += uvarint(len(item.acquired_records) + 1)
            _write_acquired_recordss_v1(item.acquired_records, out)
        else:
            out.append(1)
        out.append(0)
    return out


def _write_share_fetchable_topic_responses_v1(items: Sequence[ShareFetchableTopicResponse], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            out = _write_partition_datas_v1(item.partitions, out, segments)
        else:
            out.append(1)
        out.append(0)
    return out


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


def _write_share_fetch_response_v1(item: ShareFetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    out += _pack_i(item.acquisition_lock_timeout_ms)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        out = _write_share_fetchable_topic_responses_v1(item.responses, out, segments)
    else:
        out.append(1)
    if item.node_endpoints:
        out += uvarint(len(item.node_endpoints) + 1)
        _write_node_endpoints_v1(item.node_endpoints, out)
    else:
        out.append(1)
    out.append(0)
    return out


ShareFetchResponse.DECODERS = {
    1: _read_share_fetch_response_v1,
    2: _read_share_fetch_response_v1,
}
ShareFetchResponse.ENCODERS = {
    1: _write_share_fetch_response_v1,
    2: _write_share_fetch_response_v1,
}
