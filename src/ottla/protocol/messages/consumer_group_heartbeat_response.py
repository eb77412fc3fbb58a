"""Generated from schemas/consumer_group_heartbeat.schema: ConsumerGroupHeartbeatResponse, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack


class ConsumerGroupHeartbeatResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "assignment",)
    API_KEY = 68
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment


class Assignment(Struct):
    __slots__ = ("topic_partitions",)

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartitions] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_topic_partitionss_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartitions(topic_id, partitions))
    return items, at


def _read_assignment_v0(data: memoryview, at: int) -> tuple[Assignment, int]:
    count, at = read_compact_count(data, at, 18)
    topic_partitions, at = _read_topic_partitionss_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return Assignment(topic_partitions), at


def _read_consumer_group_heartbeat_response_v0(data: memoryview, at: int) -> tuple[ConsumerGroupHeartbeatResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    member_id: str | None = None
    if data[at]:
        member_id, at = read_compact_string(data, at)
    else:
        at += 1
    member_epoch, heartbeat_interval_ms = _unpack_ii(data, at)
    at += 8
    assignment: Assignment | None = None
    present = data[at] < 128
    at += 1
    if present:
        assignment, at = _read_assignment_v0(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ConsumerGroupHeartbeatResponse(throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms, assignment), at


def _write_topic_partitionss_v0(items: Sequence[TopicPartitions], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_assignment_v0(item: Assignment, out: bytearray) -> None:
    if item.topic_partitions:
        out += uvarint(len(item.topic_partitions) + 1)
        _write_topic_partitionss_v0(item.topic_partitions, out)
    else:
        out.append(1)
    out.append(0)


def _write_consumer_group_heartbeat_response_v0(item: ConsumerGroupHeartbeatResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.member_id is None:
        out.append(0)
    else:
        write_compact_string(item.member_id, out)
    out += _pack_ii(item.member_epoch, item.heartbeat_interval_ms)
    if item.assignment is None:
        out.append(255)
    else:
        out.append(1)
        _write_assignment_v0(item.assignment, out)
    out.append(0)


ConsumerGroupHeartbeatResponse.DECODERS = {
    0: _read_consumer_group_heartbeat_response_v0,
    1: _read_consumer_group_heartbeat_response_v0,
}
ConsumerGroupHeartbeatResponse.ENCODERS = {
    0: _write_consumer_group_heartbeat_response_v0,
    1: _write_consumer_group_heartbeat_response_v0,
}
