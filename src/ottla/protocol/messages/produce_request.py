"""Generated from schemas/produce.schema: ProduceRequest, versions 3-13. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import FrameSegment, RecordsMessage, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_view,
    read_count,
    read_nullable_string,
    read_string,
    read_view,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_hi = Layout(">hi").unpack_from
_pack_hi = Layout(">hi").pack
_pack_hii = Layout(">hii").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class ProduceRequest(RecordsMessage):
    __slots__ = ("transactional_id", "acks", "timeout_ms", "topic_data",)
    API_KEY = 0
    VERSIONS = range(3, 14)
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: Sequence[TopicProduceData] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = topic_data


class PartitionProduceData(Struct):
    __slots__ = ("index", "records",)

    def __init__(
        self,
        index: int = 0,
        records: FrameSegment | None = None,
    ) -> None:
        self.index = index
        self.records = records


class TopicProduceData(Struct):
    __slots__ = ("name", "topic_id", "partition_data",)

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_data: Sequence[PartitionProduceData] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = partition_data


def _read_partition_produce_datas_v3(data: memoryview, at: int, count: int) -> tuple[list[PartitionProduceData], int]:
    items: list[PartitionProduceData] = []
    for _ in range(count):
        (index,) = _unpack_i(data, at)
        at += 4
        records, at = read_view(data, at)
        items.append(PartitionProduceData(index, records))
    return items, at


def _read_topic_produce_datas_v3(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceData], int]:
    items: list[TopicProduceData] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 8)
        partition_data, at = _read_partition_produce_datas_v3(data, at, count) if count else ([], at)
        items.append(TopicProduceData(name, ZERO_UUID, partition_data))
    return items, at


def _read_produce_request_v3(data: memoryview, at: int) -> tuple[ProduceRequest, int]:
    transactional_id, at = read_nullable_string(data, at)
    acks, timeout_ms = _unpack_hi(data, at)
    at += 6
    count, at = read_count(data, at, 6)
    topic_data, at = _read_topic_produce_datas_v3(data, at, count) if count else ([], at)
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data), at


def _read_partition_produce_datas_v9(data: memoryview, at: int, count: int) -> tuple[list[PartitionProduceData], int]:
    items: list[PartitionProduceData] = []
    for _ in range(count):
        (index,) = _unpack_i(data, at)
        at += 4
        records, at = read_compact_view(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionProduceData(index, records))
    return items, at


def _read_topic_produce_datas_v9(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceData], int]:
    items: list[TopicProduceData] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 6)
        partition_data, at = _read_partition_produce_datas_v9(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicProduceData(name, ZERO_UUID, partition_data))
    return items, at


def _read_produce_request_v9(data: memoryview, at: int) -> tuple[ProduceRequest, int]:
    transactional_id: str | None = None
    if data[at]:
        transactional_id, at = read_compact_string(data, at)
    else:
        at += 1
    acks, timeout_ms = _unpack_hi(data, at)
    at += 6
    count, at = read_compact_count(data, at, 3)
    topic_data, at = _read_topic_produce_datas_v9(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data), at


def _read_topic_produce_datas_v13(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceData], int]:
    items: list[TopicProduceData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 6)
        partition_data, at = _read_partition_produce_datas_v9(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicProduceData("", topic_id, partition_data))
    return items, at


def _read_produce_request_v13(data: memoryview, at: int) -> tuple[ProduceRequest, int]:
    transactional_id: str | None = None
    if data[at]:
        transactional_id, at = read_compact_string(data, at)
    else:
        at += 1
    acks, timeout_ms = _unpack_hi(data, at)
    at += 6
    count, at = read_compact_count(data, at, 18)
    topic_data, at = _read_topic_produce_datas_v13(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data), at


def _write_partition_produce_datas_v3(items: Sequence[PartitionProduceData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_i(item.index)
        out += _pack_i(-1 if item.records is None else len(item.records))
        if item.records:
            segments.append(out)
            segments.append(item.records)
            out = bytearray()
    return out


def _write_topic_produce_datas_v3(items: Sequence[TopicProduceData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partition_data))
        if item.partition_data:
            out = _write_partition_produce_datas_v3(item.partition_data, out, segments)
    return out


def _write_produce_request_v3(item: ProduceRequest, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    write_nullable_string(item.transactional_id, out)
    out += _pack_hii(item.acks, item.timeout_ms, len(item.topic_data))
    if item.topic_data:
        out = _write_topic_produce_datas_v3(item.topic_data, out, segments)
    return out


def _write_partition_produce_datas_v9(items: Sequence[PartitionProduceData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_i(item.index)
        out += uvarint(0 if item.records is None else len(item.records) + 1)
        if item.records:
            segments.append(out)
            segments.append(item.records)
            out = bytearray()
        out.append(0)
    return out


def _write_topic_produce_datas_v9(items: Sequence[TopicProduceData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_data:
            out += uvarint(len(item.partition_data) + 1)
            out = _write_partition_produce_datas_v9(item.partition_data, out, segments)
        else:
            out.append(1)
        out.append(0)
    return out


def _write_produce_request_v9(item: ProduceRequest, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.transactional_id is None:
        out.append(0)
    else:
        write_compact_string(item.transactional_id, out)
    out += _pack_hi(item.acks, item.timeout_ms)
    if item.topic_data:
        out += uvarint(len(item.topic_data) + 1)
        out = _write_topic_produce_datas_v9(item.topic_data, out, segments)
    else:
        out.append(1)
    out.append(0)
    return out


def _write_topic_produce_datas_v13(items: Sequence[TopicProduceData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partition_data:
            out += uvarint(len(item.partition_data) + 1)
            out = _write_partition_produce_datas_v9(item.partition_data, out, segments)
        else:
            out.append(1)
        out.append(0)
    return out


def _write_produce_request_v13(item: ProduceRequest, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.transactional_id is None:
        out.append(0)
    else:
        write_compact_string(item.transactional_id, out)
    out += _pack_hi(item.acks, item.timeout_ms)
    if item.topic_data:
        out += uvarint(len(item.topic_data) + 1)
        out = _write_topic_produce_datas_v13(item.topic_data, out, segments)
    else:
        out.append(1)
    out.append(0)
    return out


ProduceRequest.DECODERS = {
    3: _read_produce_request_v3,
    4: _read_produce_request_v3,
    5: _read_produce_request_v3,
    6: _read_produce_request_v3,
    7: _read_produce_request_v3,
    8: _read_produce_request_v3,
    9: _read_produce_request_v9,
    10: _read_produce_request_v9,
    11: _read_produce_request_v9,
    12: _read_produce_request_v9,
    13: _read_produce_request_v13,
}
ProduceRequest.ENCODERS = {
    3: _write_produce_request_v3,
    4: _write_produce_request_v3,
    5: _write_produce_request_v3,
    6: _write_produce_request_v3,
    7: _write_produce_request_v3,
    8: _write_produce_request_v3,
    9: _write_produce_request_v9,
    10: _write_produce_request_v9,
    11: _write_produce_request_v9,
    12: _write_produce_request_v9,
    13: _write_produce_request_v13,
}
