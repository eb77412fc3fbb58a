"""Generated from schemas/describe_topic_partitions.schema: DescribeTopicPartitionsRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class DescribeTopicPartitionsRequest(Message):
    __slots__ = ("topics", "response_partition_limit", "cursor",)
    API_KEY = 75
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
        response_partition_limit: int = 2000,
        cursor: Cursor | None = None,
    ) -> None:
        self.topics = topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor


class TopicRequest(Struct):
    __slots__ = ("name",)

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


class Cursor(Struct):
    __slots__ = ("topic_name", "partition_index",)

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


def _read_topic_requests_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicRequest], int]:
    items: list[TopicRequest] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicRequest(name))
    return items, at


def _read_cursor_v0(data: memoryview, at: int) -> tuple[Cursor, int]:
    topic_name, at = read_compact_string(data, at)
    partition_index, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return Cursor(topic_name, partition_index), at


def _read_describe_topic_partitions_request_v0(data: memoryview, at: int) -> tuple[DescribeTopicPartitionsRequest, int]:
    count, at = read_compact_count(data, at, 2)
    topics, at = _read_topic_requests_v0(data, at, count) if count else ([], at)
    (response_partition_limit,) = _unpack_i(data, at)
    at += 4
    cursor: Cursor | None = None
    present = data[at] < 128
    at += 1
    if present:
        cursor, at = _read_cursor_v0(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeTopicPartitionsRequest(topics, response_partition_limit, cursor), at


def _write_topic_requests_v0(items: Sequence[TopicRequest], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out.append(0)


def _write_cursor_v0(item: Cursor, out: bytearray) -> None:
    write_compact_string(item.topic_name, out)
    out += _pack_ix(item.partition_index)


def _write_describe_topic_partitions_request_v0(item: DescribeTopicPartitionsRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_requests_v0(item.topics, out)
    else:
        out.append(1)
    out += _pack_i(item.response_partition_limit)
    if item.cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_cursor_v0(item.cursor, out)
    out.append(0)


DescribeTopicPartitionsRequest.DECODERS = {
    0: _read_describe_topic_partitions_request_v0,
}
DescribeTopicPartitionsRequest.ENCODERS = {
    0: _write_describe_topic_partitions_request_v0,
}
