"""Generated from schemas/alter_partition.schema: AlterPartitionResponse, versions 2-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_numbers,
    skip_tags,
    uvarint,
    write_numbers,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_biB = Layout(">biB").unpack_from
_pack_bix = Layout(">bix").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihii = Layout(">ihii").unpack_from
_pack_ihii = Layout(">ihii").pack


class AlterPartitionResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "topics",)
    API_KEY = 56
    VERSIONS = range(2, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = topics


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "isr", "leader_recovery_state", "partition_epoch",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: Sequence[int] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class TopicData(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_partition_datas_v2(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, leader_id, leader_epoch = _unpack_ihii(data, at)
        at += 14
        count, at = read_compact_count(data, at, 4)
        isr, at = read_numbers(data, at, count, "i") if count else ([], at)
        leader_recovery_state, partition_epoch, more = _unpack_biB(data, at)
        at += 6
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, error_code, leader_id, leader_epoch, isr, leader_recovery_state, partition_epoch))
    return items, at


def _read_topic_datas_v2(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 21)
        partitions, at = _read_partition_datas_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_id, partitions))
    return items, at


def _read_alter_partition_response_v2(data: memoryview, at: int) -> tuple[AlterPartitionResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_topic_datas_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterPartitionResponse(throttle_time_ms, error_code, topics), at


def _write_partition_datas_v2(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ihii(item.partition_index, item.error_code, item.leader_id, item.leader_epoch)
        if item.isr:
            out += uvarint(len(item.isr) + 1)
            write_numbers(item.isr, "i", out)
        else:
            out.append(1)
        out += _pack_bix(item.leader_recovery_state, item.partition_epoch)


def _write_topic_datas_v2(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v2(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_partition_response_v2(item: AlterPartitionResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v2(item.topics, out)
    else:
        out.append(1)
    out.append(0)


AlterPartitionResponse.DECODERS = {
    2: _read_alter_partition_response_v2,
    3: _read_alter_partition_response_v2,
}
AlterPartitionResponse.ENCODERS = {
    2: _write_alter_partition_response_v2,
    3: _write_alter_partition_response_v2,
}
