"""Generated from schemas/offset_delete.schema: OffsetDeleteRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_count,
    read_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class OffsetDeleteRequest(Message):
    __slots__ = ("group_id", "topics",)
    API_KEY = 47
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetDeleteRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class OffsetDeleteRequestPartition(Struct):
    __slots__ = ("partition_index",)

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class OffsetDeleteRequestTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetDeleteRequestPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_offset_delete_request_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[OffsetDeleteRequestPartition], int]:
    items: list[OffsetDeleteRequestPartition] = []
    for _ in range(count):
        (partition_index,) = _unpack_i(data, at)
        at += 4
        items.append(OffsetDeleteRequestPartition(partition_index))
    return items, at


def _read_offset_delete_request_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[OffsetDeleteRequestTopic], int]:
    items: list[OffsetDeleteRequestTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = _read_offset_delete_request_partitions_v0(data, at, count) if count else ([], at)
        items.append(OffsetDeleteRequestTopic(name, partitions))
    return items, at


def _read_offset_delete_request_v0(data: memoryview, at: int) -> tuple[OffsetDeleteRequest, int]:
    group_id, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_delete_request_topics_v0(data, at, count) if count else ([], at)
    return OffsetDeleteRequest(group_id, topics), at


def _write_offset_delete_request_partitions_v0(items: Sequence[OffsetDeleteRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.partition_index)


def _write_offset_delete_request_topics_v0(items: Sequence[OffsetDeleteRequestTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_delete_request_partitions_v0(item.partitions, out)


def _write_offset_delete_request_v0(item: OffsetDeleteRequest, out: bytearray) -> None:
    write_string(item.group_id, out)
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_delete_request_topics_v0(item.topics, out)


OffsetDeleteRequest.DECODERS = {
    0: _read_offset_delete_request_v0,
}
OffsetDeleteRequest.ENCODERS = {
    0: _write_offset_delete_request_v0,
}
