"""Generated from schemas/data/consumer_protocol_assignment.schema: ConsumerProtocolAssignment, versions 0-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_count,
    read_nullable_bytes,
    read_numbers,
    read_string,
    write_nullable_bytes,
    write_numbers,
    write_string,
)

_pack_i = Layout(">i").pack


class ConsumerProtocolAssignment(Message):
    __slots__ = ("assigned_partitions", "user_data",)
    VERSIONS = range(0, 4)

    def __init__(
        self,
        assigned_partitions: Sequence[TopicPartition] = (),
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = assigned_partitions
        self.user_data = user_data


class TopicPartition(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


def _read_topic_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartition], int]:
    items: list[TopicPartition] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(TopicPartition(topic, partitions))
    return items, at


def _read_consumer_protocol_assignment_v0(data: memoryview, at: int) -> tuple[ConsumerProtocolAssignment, int]:
    count, at = read_count(data, at, 6)
    assigned_partitions, at = _read_topic_partitions_v0(data, at, count) if count else ([], at)
    user_data, at = read_nullable_bytes(data, at)
    return ConsumerProtocolAssignment(assigned_partitions, user_data), at


def _write_topic_partitions_v0(items: Sequence[TopicPartition], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            write_numbers(item.partitions, "i", out)


def _write_consumer_protocol_assignment_v0(item: ConsumerProtocolAssignment, out: bytearray) -> None:
    out += _pack_i(len(item.assigned_partitions))
    if item.assigned_partitions:
        _write_topic_partitions_v0(item.assigned_partitions, out)
    write_nullable_bytes(item.user_data, out)


ConsumerProtocolAssignment.DECODERS = {
    0: _read_consumer_protocol_assignment_v0,
    1: _read_consumer_protocol_assignment_v0,
    2: _read_consumer_protocol_assignment_v0,
    3: _read_consumer_protocol_assignment_v0,
}
ConsumerProtocolAssignment.ENCODERS = {
    0: _write_consumer_protocol_assignment_v0,
    1: _write_consumer_protocol_assignment_v0,
    2: _write_consumer_protocol_assignment_v0,
    3: _write_consumer_protocol_assignment_v0,
}
