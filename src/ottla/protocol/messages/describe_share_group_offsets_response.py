"""Generated from schemas/describe_share_group_offsets.schema: DescribeShareGroupOffsetsResponse, versions 0-1. Do not edit."""

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
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iqih = Layout(">iqih").unpack_from
_pack_iqih = Layout(">iqih").pack
_unpack_iqiqh = Layout(">iqiqh").unpack_from
_pack_iqiqh = Layout(">iqiqh").pack


class DescribeShareGroupOffsetsResponse(Message):
    __slots__ = ("throttle_time_ms", "groups",)
    API_KEY = 90
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribeShareGroupOffsetsResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups


class DescribeShareGroupOffsetsResponsePartition(Struct):
    __slots__ = ("partition_index", "start_offset", "leader_epoch", "lag", "error_code", "error_message",)

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message


class DescribeShareGroupOffsetsResponseTopic(Struct):
    __slots__ = ("topic_name", "topic_id", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[DescribeShareGroupOffsetsResponsePartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = partitions


class DescribeShareGroupOffsetsResponseGroup(Struct):
    __slots__ = ("group_id", "topics", "error_code", "error_message",)

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DescribeShareGroupOffsetsResponseTopic] = (),
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.error_code = error_code
        self.error_message = error_message


def _read_describe_share_group_offsets_response_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsResponsePartition], int]:
    items: list[DescribeShareGroupOffsetsResponsePartition] = []
    for _ in range(count):
        partition_index, start_offset, leader_epoch, error_code = _unpack_iqih(data, at)
        at += 18
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsResponsePartition(partition_index, start_offset, leader_epoch, -1, error_code, error_message))
    return items, at


def _read_describe_share_group_offsets_response_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsResponseTopic], int]:
    items: list[DescribeShareGroupOffsetsResponseTopic] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 20)
        partitions, at = _read_describe_share_group_offsets_response_partitions_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsResponseTopic(topic_name, topic_id, partitions))
    return items, at


def _read_describe_share_group_offsets_response_groups_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsResponseGroup], int]:
    items: list[DescribeShareGroupOffsetsResponseGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 19)
        topics, at = _read_describe_share_group_offsets_response_topics_v0(data, at, count) if count else ([], at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsResponseGroup(group_id, topics, error_code, error_message))
    return items, at


def _read_describe_share_group_offsets_response_v0(data: memoryview, at: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 6)
    groups, at = _read_describe_share_group_offsets_response_groups_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeShareGroupOffsetsResponse(throttle_time_ms, groups), at


def _read_describe_share_group_offsets_response_partitions_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsResponsePartition], int]:
    items: list[DescribeShareGroupOffsetsResponsePartition] = []
    for _ in range(count):
        partition_index, start_offset, leader_epoch, lag, error_code = _unpack_iqiqh(data, at)
        at += 26
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsResponsePartition(partition_index, start_offset, leader_epoch, lag, error_code, error_message))
    return items, at


def _read_describe_share_group_offsets_response_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsResponseTopic], int]:
    items: list[DescribeShareGroupOffsetsResponseTopic] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 28)
        partitions, at = _read_describe_share_group_offsets_response_partitions_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsResponseTopic(topic_name, topic_id, partitions))
    return items, at


def _read_describe_share_group_offsets_response_groups_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsResponseGroup], int]:
    items: list[DescribeShareGroupOffsetsResponseGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 19)
        topics, at = _read_describe_share_group_offsets_response_topics_v1(data, at, count) if count else ([], at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsResponseGroup(group_id, topics, error_code, error_message))
    return items, at


def _read_describe_share_group_offsets_response_v1(data: memoryview, at: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 6)
    groups, at = _read_describe_share_group_offsets_response_groups_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeShareGroupOffsetsResponse(throttle_time_ms, groups), at


def _write_describe_share_group_offsets_response_partitions_v0(items: Sequence[DescribeShareGroupOffsetsResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqih(item.partition_index, item.start_offset, item.leader_epoch, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_describe_share_group_offsets_response_topics_v0(items: Sequence[DescribeShareGroupOffsetsResponseTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_describe_share_group_offsets_response_partitions_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_share_group_offsets_response_groups_v0(items: Sequence[DescribeShareGroupOffsetsResponseGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_describe_share_group_offsets_response_topics_v0(item.topics, out)
        else:
            out.append(1)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_describe_share_group_offsets_response_v0(item: DescribeShareGroupOffsetsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_describe_share_group_offsets_response_groups_v0(item.groups, out)
    else:
        out.append(1)
    out.append(0)


def _write_describe_share_group_offsets_response_partitions_v1(items: Sequence[DescribeShareGroupOffsetsResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqiqh(item.partition_index, item.start_offset, item.leader_epoch, item.lag, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_describe_share_group_offsets_response_topics_v1(items: Sequence[DescribeShareGroupOffsetsResponseTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_describe_share_group_offsets_response_partitions_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_share_group_offsets_response_groups_v1(items: Sequence[DescribeShareGroupOffsetsResponseGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_describe_share_group_offsets_response_topics_v1(item.topics, out)
        else:
            out.append(1)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_describe_share_group_offsets_response_v1(item: DescribeShareGroupOffsetsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_describe_share_group_offsets_response_groups_v1(item.groups, out)
    else:
        out.append(1)
    out.append(0)


DescribeShareGroupOffsetsResponse.DECODERS = {
    0: _read_describe_share_group_offsets_response_v0,
    1: _read_describe_share_group_offsets_response_v1,
}
DescribeShareGroupOffsetsResponse.ENCODERS = {
    0: _write_describe_share_group_offsets_response_v0,
    1: _write_describe_share_group_offsets_response_v1,
}
