"""Generated from schemas/write_share_group_state.schema: WriteShareGroupStateRequest, versions 0-1. Do not edit."""

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
_unpack_iiiq = Layout(">iiiq").unpack_from
_pack_iiiq = Layout(">iiiq").pack
_unpack_iiiqi = Layout(">iiiqi").unpack_from
_pack_iiiqi = Layout(">iiiqi").pack
_unpack_qqbhB = Layout(">qqbhB").unpack_from
_pack_qqbhx = Layout(">qqbhx").pack


class WriteShareGroupStateRequest(Message):
    __slots__ = ("group_id", "topics",)
    API_KEY = 85
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[WriteStateData] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class StateBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count",)

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count


class PartitionData(Struct):
    __slots__ = ("partition", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "state_batches",)

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: Sequence[StateBatch] = (),
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = state_batches


class WriteStateData(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_state_batchs_v0(data: memoryview, at: int, count: int) -> tuple[list[StateBatch], int]:
    items: list[StateBatch] = []
    for _ in range(count):
        first_offset, last_offset, delivery_state, delivery_count, more = _unpack_qqbhB(data, at)
        at += 20
        if more:
            at = skip_tags(data, at - 1)
        items.append(StateBatch(first_offset, last_offset, delivery_state, delivery_count))
    return items, at


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition, state_epoch, leader_epoch, start_offset = _unpack_iiiq(data, at)
        at += 20
        count, at = read_compact_count(data, at, 20)
        state_batches, at = _read_state_batchs_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionData(partition, state_epoch, leader_epoch, start_offset, -1, state_batches))
    return items, at


def _read_write_state_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[WriteStateData], int]:
    items: list[WriteStateData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 22)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(WriteStateData(topic_id, partitions))
    return items, at


def _read_write_share_group_state_request_v0(data: memoryview, at: int) -> tuple[WriteShareGroupStateRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_write_state_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return WriteShareGroupStateRequest(group_id, topics), at


def _read_partition_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition, state_epoch, leader_epoch, start_offset, delivery_complete_count = _unpack_iiiqi(data, at)
        at += 24
        count, at = read_compact_count(data, at, 20)
        state_batches, at = _read_state_batchs_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionData(partition, state_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches))
    return items, at


def _read_write_state_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[WriteStateData], int]:
    items: list[WriteStateData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 26)
        partitions, at = _read_partition_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(WriteStateData(topic_id, partitions))
    return items, at


def _read_write_share_group_state_request_v1(data: memoryview, at: int) -> tuple[WriteShareGroupStateRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_write_state_datas_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return WriteShareGroupStateRequest(group_id, topics), at


def _write_state_batchs_v0(items: Sequence[StateBatch], out: bytearray) -> None:
    for item in items:
        out += _pack_qqbhx(item.first_offset, item.last_offset, item.delivery_state, item.delivery_count)


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_iiiq(item.partition, item.state_epoch, item.leader_epoch, item.start_offset)
        if item.state_batches:
            out += uvarint(len(item.state_batches) + 1)
            _write_state_batchs_v0(item.state_batches, out)
        else:
            out.append(1)
        out.append(0)


def _write_write_state_datas_v0(items: Sequence[WriteStateData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_write_share_group_state_request_v0(item: WriteShareGroupStateRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_write_state_datas_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_partition_datas_v1(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_iiiqi(item.partition, item.state_epoch, item.leader_epoch, item.start_offset, item.delivery_complete_count)
        if item.state_batches:
            out += uvarint(len(item.state_batches) + 1)
            _write_state_batchs_v0(item.state_batches, out)
        else:
            out.append(1)
        out.append(0)


def _write_write_state_datas_v1(items: Sequence[WriteStateData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_write_share_group_state_request_v1(item: WriteShareGroupStateRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_write_state_datas_v1(item.topics, out)
    else:
        out.append(1)
    out.append(0)


WriteShareGroupStateRequest.DECODERS = {
    0: _read_write_share_group_state_request_v0,
    1: _read_write_share_group_state_request_v1,
}
WriteShareGroupStateRequest.ENCODERS = {
    0: _write_write_share_group_state_request_v0,
    1: _write_write_share_group_state_request_v1,
}
