"""Generated from schemas/describe_topic_partitions.schema: DescribeTopicPartitionsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_ut = Layout(">16s?").unpack_from
_pack_ut = Layout(">16s?").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hiii = Layout(">hiii").unpack_from
_pack_hiii = Layout(">hiii").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class DescribeTopicPartitionsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics", "next_cursor",)
    API_KEY = 75
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[DescribeTopicPartitionsResponseTopic] = (),
        next_cursor: Cursor | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
        self.next_cursor = next_cursor


class DescribeTopicPartitionsResponsePartition(Struct):
    __slots__ = ("error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "eligible_leader_replicas", "last_known_elr", "offline_replicas",)

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Sequence[int] = (),
        isr_nodes: Sequence[int] = (),
        eligible_leader_replicas: Sequence[int] | None = None,
        last_known_elr: Sequence[int] | None = None,
        offline_replicas: Sequence[int] = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = replica_nodes
        self.isr_nodes = isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = offline_replicas


class DescribeTopicPartitionsResponseTopic(Struct):
    __slots__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations",)

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: Sequence[DescribeTopicPartitionsResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = partitions
        self.topic_authorized_operations = topic_authorized_operations


class Cursor(Struct):
    __slots__ = ("topic_name", "partition_index",)

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


def _read_describe_topic_partitions_response_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeTopicPartitionsResponsePartition], int]:
    items: list[DescribeTopicPartitionsResponsePartition] = []
    for _ in range(count):
        error_code, partition_index, leader_id, leader_epoch = _unpack_hiii(data, at)
        at += 14
        count, at = read_compact_count(data, at, 4)
        replica_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_compact_count(data, at, 4)
        isr_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_compact_nullable_count(data, at, 4)
        eligible_leader_replicas: list[int] | None = None
        if count >= 0:
            eligible_leader_replicas, at = read_numbers(data, at, count, "i")
        count, at = read_compact_nullable_count(data, at, 4)
        last_known_elr: list[int] | None = None
        if count >= 0:
            last_known_elr, at = read_numbers(data, at, count, "i")
        count, at = read_compact_count(data, at, 4)
        offline_replicas, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeTopicPartitionsResponsePartition(error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, eligible_leader_replicas, last_known_elr, offline_replicas))
    return items, at


def _read_describe_topic_partitions_response_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeTopicPartitionsResponseTopic], int]:
    items: list[DescribeTopicPartitionsResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name: str | None = None
        if data[at]:
            name, at = read_compact_string(data, at)
        else:
            at += 1
        topic_id, is_internal = _unpack_ut(data, at)
        at += 17
        count, at = read_compact_count(data, at, 20)
        partitions, at = _read_describe_topic_partitions_response_partitions_v0(data, at, count) if count else ([], at)
        topic_authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribeTopicPartitionsResponseTopic(error_code, name, topic_id, is_internal, partitions, topic_authorized_operations))
    return items, at


def _read_cursor_v0(data: memoryview, at: int) -> tuple[Cursor, int]:
    topic_name, at = read_compact_string(data, at)
    partition_index, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return Cursor(topic_name, partition_index), at


def _read_describe_topic_partitions_response_v0(data: memoryview, at: int) -> tuple[DescribeTopicPartitionsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 26)
    topics, at = _read_describe_topic_partitions_response_topics_v0(data, at, count) if count else ([], at)
    next_cursor: Cursor | None = None
    present = data[at] < 128
    at += 1
    if present:
        next_cursor, at = _read_cursor_v0(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeTopicPartitionsResponse(throttle_time_ms, topics, next_cursor), at


def _write_describe_topic_partitions_response_partitions_v0(items: Sequence[DescribeTopicPartitionsResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_hiii(item.error_code, item.partition_index, item.leader_id, item.leader_epoch)
        if item.replica_nodes:
            out += uvarint(len(item.replica_nodes) + 1)
            write_numbers(item.replica_nodes, "i", out)
        else:
            out.append(1)
        if item.isr_nodes:
            out += uvarint(len(item.isr_nodes) + 1)
            write_numbers(item.isr_nodes, "i", out)
        else:
            out.append(1)
        if item.eligible_leader_replicas:
            out += uvarint(len(item.eligible_leader_replicas) + 1)
            write_numbers(item.eligible_leader_replicas, "i", out)
        else:
            out.append(0 if item.eligible_leader_replicas is None else 1)
        if item.last_known_elr:
            out += uvarint(len(item.last_known_elr) + 1)
            write_numbers(item.last_known_elr, "i", out)
        else:
            out.append(0 if item.last_known_elr is None else 1)
        if item.offline_replicas:
            out += uvarint(len(item.offline_replicas) + 1)
            write_numbers(item.offline_replicas, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_topic_partitions_response_topics_v0(items: Sequence[DescribeTopicPartitionsResponseTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.name is None:
            out.append(0)
        else:
            write_compact_string(item.name, out)
        out += _pack_ut(item.topic_id, item.is_internal)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_describe_topic_partitions_response_partitions_v0(item.partitions, out)
        else:
            out.append(1)
        out += _pack_ix(item.topic_authorized_operations)


def _write_cursor_v0(item: Cursor, out: bytearray) -> None:
    write_compact_string(item.topic_name, out)
    out += _pack_ix(item.partition_index)


def _write_describe_topic_partitions_response_v0(item: DescribeTopicPartitionsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_describe_topic_partitions_response_topics_v0(item.topics, out)
    else:
        out.append(1)
    if item.next_cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_cursor_v0(item.next_cursor, out)
    out.append(0)


DescribeTopicPartitionsResponse.DECODERS = {
    0: _read_describe_topic_partitions_response_v0,
}
DescribeTopicPartitionsResponse.ENCODERS = {
    0: _write_describe_topic_partitions_response_v0,
}
