"""Generated from schemas/describe_quorum.schema: DescribeQuorumRequest, versions 0-2. Do not edit."""

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

_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class DescribeQuorumRequest(Message):
    __slots__ = ("topics",)
    API_KEY = 55
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.topics = topics


class PartitionData(Struct):
    __slots__ = ("partition_index",)

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class TopicData(Struct):
    __slots__ = ("topic_name", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index))
    return items, at


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 5)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_describe_quorum_request_v0(data: memoryview, at: int) -> tuple[DescribeQuorumRequest, int]:
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeQuorumRequest(topics), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_ix(item.partition_index)


def _write_topic_datas_v0(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_quorum_request_v0(item: DescribeQuorumRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


DescribeQuorumRequest.DECODERS = {
    0: _read_describe_quorum_request_v0,
    1: _read_describe_quorum_request_v0,
    2: _read_describe_quorum_request_v0,
}
DescribeQuorumRequest.ENCODERS = {
    0: _write_describe_quorum_request_v0,
    1: _write_describe_quorum_request_v0,
    2: _write_describe_quorum_request_v0,
}
