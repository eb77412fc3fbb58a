"""Generated from schemas/list_offsets.schema: ListOffsetsResponse, versions 1-11. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ihqq = Layout(">ihqq").unpack_from
_pack_ihqq = Layout(">ihqq").pack
_unpack_ihqqi = Layout(">ihqqi").unpack_from
_pack_ihqqi = Layout(">ihqqi").pack
_unpack_ihqqiB = Layout(">ihqqiB").unpack_from
_pack_ihqqix = Layout(">ihqqix").pack
_pack_ii = Layout(">ii").pack


class ListOffsetsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics",)
    API_KEY = 2
    VERSIONS = range(1, 12)
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[ListOffsetsTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class ListOffsetsPartitionResponse(Struct):
    __slots__ = ("partition_index", "error_code", "timestamp", "offset", "leader_epoch",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch


class ListOffsetsTopicResponse(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ListOffsetsPartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_list_offsets_partition_responses_v1(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsPartitionResponse], int]:
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        partition_index, error_code, timestamp, offset = _unpack_ihqq(data, at)
        at += 22
        items.append(ListOffsetsPartitionResponse(partition_index, error_code, timestamp, offset, -1))
    return items, at


def _read_list_offsets_topic_responses_v1(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsTopicResponse], int]:
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 22)
        partitions, at = _read_list_offsets_partition_responses_v1(data, at, count) if count else ([], at)
        items.append(ListOffsetsTopicResponse(name, partitions))
    return items, at


def _read_list_offsets_response_v1(data: memoryview, at: int) -> tuple[ListOffsetsResponse, int]:
    count, at = read_count(data, at, 6)
    topics, at = _read_list_offsets_topic_responses_v1(data, at, count) if count else ([], at)
    return ListOffsetsResponse(0, topics), at


def _read_list_offsets_response_v2(data: memoryview, at: int) -> tuple[ListOffsetsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_list_offsets_topic_responses_v1(data, at, count) if count else ([], at)
    return ListOffsetsResponse(throttle_time_ms, topics), at


def _read_list_offsets_partition_responses_v4(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsPartitionResponse], int]:
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        partition_index, error_code, timestamp, offset, leader_epoch = _unpack_ihqqi(data, at)
        at += 26
        items.append(ListOffsetsPartitionResponse(partition_index, error_code, timestamp, offset, leader_epoch))
    return items, at


def _read_list_offsets_topic_responses_v4(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsTopicResponse], int]:
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 26)
        partitions, at = _read_list_offsets_partition_responses_v4(data, at, count) if count else ([], at)
        items.append(ListOffsetsTopicResponse(name, partitions))
    return items, at


def _read_list_offsets_response_v4(data: memoryview, at: int) -> tuple[ListOffsetsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_list_offsets_topic_responses_v4(data, at, count) if count else ([], at)
    return ListOffsetsResponse(throttle_time_ms, topics), at


def _read_list_offsets_partition_responses_v6(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsPartitionResponse], int]:
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        partition_index, error_code, timestamp, offset, leader_epoch, more = _unpack_ihqqiB(data, at)
        at += 27
        if more:
            at = skip_tags(data, at - 1)
        items.append(ListOffsetsPartitionResponse(partition_index, error_code, timestamp, offset, leader_epoch))
    return items, at


def _read_list_offsets_topic_responses_v6(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsTopicResponse], int]:
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 27)
        partitions, at = _read_list_offsets_partition_responses_v6(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ListOffsetsTopicResponse(name, partitions))
    return items, at


def _read_list_offsets_response_v6(data: memoryview, at: int) -> tuple[ListOffsetsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_list_offsets_topic_responses_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListOffsetsResponse(throttle_time_ms, topics), at


def _write_list_offsets_partition_responses_v1(items: Sequence[ListOffsetsPartitionResponse], out: bytearray) -> None:
    for item in items:
        if item.leader_epoch != -1:
            refuse_field("ListOffsetsPartitionResponse.leader_epoch")
        out += _pack_ihqq(item.partition_index, item.error_code, item.timestamp, item.offset)


def _write_list_offsets_topic_responses_v1(items: Sequence[ListOffsetsTopicResponse], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_list_offsets_partition_responses_v1(item.partitions, out)


def _write_list_offsets_response_v1(item: ListOffsetsResponse, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_list_offsets_topic_responses_v1(item.topics, out)


def _write_list_offsets_response_v2(item: ListOffsetsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_list_offsets_topic_responses_v1(item.topics, out)


def _write_list_offsets_partition_responses_v4(items: Sequence[ListOffsetsPartitionResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_ihqqi(item.partition_index, item.error_code, item.timestamp, item.offset, item.leader_epoch)


def _write_list_offsets_topic_responses_v4(items: Sequence[ListOffsetsTopicResponse], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_list_offsets_partition_responses_v4(item.partitions, out)


def _write_list_offsets_response_v4(item: ListOffsetsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_list_offsets_topic_responses_v4(item.topics, out)


def _write_list_offsets_partition_responses_v6(items: Sequence[ListOffsetsPartitionResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_ihqqix(item.partition_index, item.error_code, item.timestamp, item.offset, item.leader_epoch)


def _write_list_offsets_topic_responses_v6(items: Sequence[ListOffsetsTopicResponse], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_list_offsets_partition_responses_v6(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_list_offsets_response_v6(item: ListOffsetsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_list_offsets_topic_responses_v6(item.topics, out)
    else:
        out.append(1)
    out.append(0)


ListOffsetsResponse.DECODERS = {
    1: _read_list_offsets_response_v1,
    2: _read_list_offsets_response_v2,
    3: _read_list_offsets_response_v2,
    4: _read_list_offsets_response_v4,
    5: _read_list_offsets_response_v4,
    6: _read_list_offsets_response_v6,
    7: _read_list_offsets_response_v6,
    8: _read_list_offsets_response_v6,
    9: _read_list_offsets_response_v6,
    10: _read_list_offsets_response_v6,
    11: _read_list_offsets_response_v6,
}
ListOffsetsResponse.ENCODERS = {
    1: _write_list_offsets_response_v1,
    2: _write_list_offsets_response_v2,
    3: _write_list_offsets_response_v2,
    4: _write_list_offsets_response_v4,
    5: _write_list_offsets_response_v4,
    6: _write_list_offsets_response_v6,
    7: _write_list_offsets_response_v6,
    8: _write_list_offsets_response_v6,
    9: _write_list_offsets_response_v6,
    10: _write_list_offsets_response_v6,
    11: _write_list_offsets_response_v6,
}
