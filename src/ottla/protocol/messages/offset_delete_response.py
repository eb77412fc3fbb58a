"""Generated from schemas/offset_delete.schema: OffsetDeleteResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_count,
    read_string,
    write_string,
)

_unpack_hi = Layout(">hi").unpack_from
_pack_hii = Layout(">hii").pack
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class OffsetDeleteResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms", "topics",)
    API_KEY = 47
    VERSIONS = range(0, 1)

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetDeleteResponseTopic] = (),
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class OffsetDeleteResponsePartition(Struct):
    __slots__ = ("partition_index", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetDeleteResponseTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetDeleteResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_offset_delete_response_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[OffsetDeleteResponsePartition], int]:
    items: list[OffsetDeleteResponsePartition] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        items.append(OffsetDeleteResponsePartition(partition_index, error_code))
    return items, at


def _read_offset_delete_response_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[OffsetDeleteResponseTopic], int]:
    items: list[OffsetDeleteResponseTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 6)
        partitions, at = _read_offset_delete_response_partitions_v0(data, at, count) if count else ([], at)
        items.append(OffsetDeleteResponseTopic(name, partitions))
    return items, at


def _read_offset_delete_response_v0(data: memoryview, at: int) -> tuple[OffsetDeleteResponse, int]:
    error_code, throttle_time_ms = _unpack_hi(data, at)
    at += 6
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_delete_response_topics_v0(data, at, count) if count else ([], at)
    return OffsetDeleteResponse(error_code, throttle_time_ms, topics), at


def _write_offset_delete_response_partitions_v0(items: Sequence[OffsetDeleteResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)


def _write_offset_delete_response_topics_v0(items: Sequence[OffsetDeleteResponseTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_delete_response_partitions_v0(item.partitions, out)


def _write_offset_delete_response_v0(item: OffsetDeleteResponse, out: bytearray) -> None:
    out += _pack_hii(item.error_code, item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_offset_delete_response_topics_v0(item.topics, out)


OffsetDeleteResponse.DECODERS = {
    0: _read_offset_delete_response_v0,
}
OffsetDeleteResponse.ENCODERS = {
    0: _write_offset_delete_response_v0,
}
