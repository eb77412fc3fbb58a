"""Generated from schemas/alter_partition.schema: AlterPartitionRequest, versions 2-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
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
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack


class AlterPartitionRequest(Message):
    __slots__ = ("broker_id", "broker_epoch", "topics",)
    API_KEY = 56
    VERSIONS = range(2, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = topics


class BrokerState(Struct):
    __slots__ = ("broker_id", "broker_epoch",)

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class PartitionData(Struct):
    __slots__ = ("partition_index", "leader_epoch", "new_isr", "new_isr_with_epochs", "leader_recovery_state", "partition_epoch",)

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: Sequence[int] = (),
        new_isr_with_epochs: Sequence[BrokerState] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = new_isr
        self.new_isr_with_epochs = new_isr_with_epochs
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
        partition_index, leader_epoch = _unpack_ii(data, at)
        at += 8
        count, at = read_compact_count(data, at, 4)
        new_isr, at = read_numbers(data, at, count, "i") if count else ([], at)
        leader_recovery_state, partition_epoch, more = _unpack_biB(data, at)
        at += 6
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, leader_epoch, new_isr, (), leader_recovery_state, partition_epoch))
    return items, at


def _read_topic_datas_v2(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 15)
        partitions, at = _read_partition_datas_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_id, partitions))
    return items, at


def _read_alter_partition_request_v2(data: memoryview, at: int) -> tuple[AlterPartitionRequest, int]:
    broker_id, broker_epoch = _unpack_iq(data, at)
    at += 12
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_topic_datas_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterPartitionRequest(broker_id, broker_epoch, topics), at


def _read_broker_states_v3(data: memoryview, at: int, count: int) -> tuple[list[BrokerState], int]:
    items: list[BrokerState] = []
    for _ in range(count):
        broker_id, broker_epoch, more = _unpack_iqB(data, at)
        at += 13
        if more:
            at = skip_tags(data, at - 1)
        items.append(BrokerState(broker_id, broker_epoch))
    return items, at


def _read_partition_datas_v3(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, leader_epoch = _unpack_ii(data, at)
        at += 8
        count, at = read_compact_count(data, at, 13)
        new_isr_with_epochs, at = _read_broker_states_v3(data, at, count) if count else ([], at)
        leader_recovery_state, partition_epoch, more = _unpack_biB(data, at)
        at += 6
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, leader_epoch, (), new_isr_with_epochs, leader_recovery_state, partition_epoch))
    return items, at


def _read_topic_datas_v3(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 15)
        partitions, at = _read_partition_datas_v3(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_id, partitions))
    return items, at


def _read_alter_partition_request_v3(data: memoryview, at: int) -> tuple[AlterPartitionRequest, int]:
    broker_id, broker_epoch = _unpack_iq(data, at)
    at += 12
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_topic_datas_v3(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterPartitionRequest(broker_id, broker_epoch, topics), at


def _write_partition_datas_v2(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        if item.new_isr_with_epochs:
            refuse_field("PartitionData.new_isr_with_epochs")
        out += _pack_ii(item.partition_index, item.leader_epoch)
        if item.new_isr:
            out += uvarint(len(item.new_isr) + 1)
            write_numbers(item.new_isr, "i", out)
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


def _write_alter_partition_request_v2(item: AlterPartitionRequest, out: bytearray) -> None:
    out += _pack_iq(item.broker_id, item.broker_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v2(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_broker_states_v3(items: Sequence[BrokerState], out: bytearray) -> None:
    for item in items:
        out += _pack_iqx(item.broker_id, item.broker_epoch)


def _write_partition_datas_v3(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        if item.new_isr:
            refuse_field("PartitionData.new_isr")
        out += _pack_ii(item.partition_index, item.leader_epoch)
        if item.new_isr_with_epochs:
            out += uvarint(len(item.new_isr_with_epochs) + 1)
            _write_broker_states_v3(item.new_isr_with_epochs, out)
        else:
            out.append(1)
        out += _pack_bix(item.leader_recovery_state, item.partition_epoch)


def _write_topic_datas_v3(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v3(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_partition_request_v3(item: AlterPartitionRequest, out: bytearray) -> None:
    out += _pack_iq(item.broker_id, item.broker_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v3(item.topics, out)
    else:
        out.append(1)
    out.append(0)


AlterPartitionRequest.DECODERS = {
    2: _read_alter_partition_request_v2,
    3: _read_alter_partition_request_v3,
}
AlterPartitionRequest.ENCODERS = {
    2: _write_alter_partition_request_v2,
    3: _write_alter_partition_request_v3,
}
