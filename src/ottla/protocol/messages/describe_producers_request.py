"""Generated from schemas/describe_producers.schema: DescribeProducersRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

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



class DescribeProducersRequest(Message):
    __slots__ = ("topics",)
    API_KEY = 61
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
    ) -> None:
        self.topics = topics


class TopicRequest(Struct):
    __slots__ = ("name", "partition_indexes",)

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


def _read_topic_requests_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicRequest], int]:
    items: list[TopicRequest] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partition_indexes, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicRequest(name, partition_indexes))
    return items, at


def _read_describe_producers_request_v0(data: memoryview, at: int) -> tuple[DescribeProducersRequest, int]:
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_requests_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeProducersRequest(topics), at


def _write_topic_requests_v0(items: Sequence[TopicRequest], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_indexes:
            out += uvarint(len(item.partition_indexes) + 1)
            write_numbers(item.partition_indexes, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_producers_request_v0(item: DescribeProducersRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_requests_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


DescribeProducersRequest.DECODERS = {
    0: _read_describe_producers_request_v0,
}
DescribeProducersRequest.ENCODERS = {
    0: _write_describe_producers_request_v0,
}
