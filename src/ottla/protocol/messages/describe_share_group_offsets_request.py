"""Generated from schemas/describe_share_group_offsets.schema: DescribeShareGroupOffsetsRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

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



class DescribeShareGroupOffsetsRequest(Message):
    __slots__ = ("groups",)
    API_KEY = 90
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        groups: Sequence[DescribeShareGroupOffsetsRequestGroup] = (),
    ) -> None:
        self.groups = groups


class DescribeShareGroupOffsetsRequestTopic(Struct):
    __slots__ = ("topic_name", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class DescribeShareGroupOffsetsRequestGroup(Struct):
    __slots__ = ("group_id", "topics",)

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DescribeShareGroupOffsetsRequestTopic] | None = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


def _read_describe_share_group_offsets_request_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsRequestTopic], int]:
    items: list[DescribeShareGroupOffsetsRequestTopic] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsRequestTopic(topic_name, partitions))
    return items, at


def _read_describe_share_group_offsets_request_groups_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeShareGroupOffsetsRequestGroup], int]:
    items: list[DescribeShareGroupOffsetsRequestGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        count, at = read_compact_nullable_count(data, at, 3)
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = None
        if count >= 0:
            topics, at = _read_describe_share_group_offsets_request_topics_v0(data, at, count)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeShareGroupOffsetsRequestGroup(group_id, topics))
    return items, at


def _read_describe_share_group_offsets_request_v0(data: memoryview, at: int) -> tuple[DescribeShareGroupOffsetsRequest, int]:
    count, at = read_compact_count(data, at, 3)
    groups, at = _read_describe_share_group_offsets_request_groups_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeShareGroupOffsetsRequest(groups), at


def _write_describe_share_group_offsets_request_topics_v0(items: Sequence[DescribeShareGroupOffsetsRequestTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_share_group_offsets_request_groups_v0(items: Sequence[DescribeShareGroupOffsetsRequestGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_describe_share_group_offsets_request_topics_v0(item.topics, out)
        else:
            out.append(0 if item.topics is None else 1)
        out.append(0)


def _write_describe_share_group_offsets_request_v0(item: DescribeShareGroupOffsetsRequest, out: bytearray) -> None:
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_describe_share_group_offsets_request_groups_v0(item.groups, out)
    else:
        out.append(1)
    out.append(0)


DescribeShareGroupOffsetsRequest.DECODERS = {
    0: _read_describe_share_group_offsets_request_v0,
    1: _read_describe_share_group_offsets_request_v0,
}
DescribeShareGroupOffsetsRequest.ENCODERS = {
    0: _write_describe_share_group_offsets_request_v0,
    1: _write_describe_share_group_offsets_request_v0,
}
