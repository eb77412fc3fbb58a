"""Generated from schemas/offset_commit.schema: OffsetCommitResponse, versions 2-10. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
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

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack
_pack_ii = Layout(">ii").pack


class OffsetCommitResponse(Message):
    __slots__ = ("throttle_time_ms", "topics",)
    API_KEY = 8
    VERSIONS = range(2, 11)
    FLEXIBLE_FROM = 8

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class OffsetCommitResponsePartition(Struct):
    __slots__ = ("partition_index", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetCommitResponseTopic(Struct):
    __slots__ = ("name", "topic_id", "partitions",)

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[OffsetCommitResponsePartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


def _read_offset_commit_response_partitions_v2(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitResponsePartition], int]:
    items: list[OffsetCommitResponsePartition] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        items.append(OffsetCommitResponsePartition(partition_index, error_code))
    return items, at


def _read_offset_commit_response_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitResponseTopic], int]:
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 6)
        partitions, at = _read_offset_commit_response_partitions_v2(data, at, count) if count else ([], at)
        items.append(OffsetCommitResponseTopic(name, ZERO_UUID, partitions))
    return items, at


def _read_offset_commit_response_v2(data: memoryview, at: int) -> tuple[OffsetCommitResponse, int]:
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_commit_response_topics_v2(data, at, count) if count else ([], at)
    return OffsetCommitResponse(0, topics), at


def _read_offset_commit_response_v3(data: memoryview, at: int) -> tuple[OffsetCommitResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_commit_response_topics_v2(data, at, count) if count else ([], at)
    return OffsetCommitResponse(throttle_time_ms, topics), at


def _read_offset_commit_response_partitions_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitResponsePartition], int]:
    items: list[OffsetCommitResponsePartition] = []
    for _ in range(count):
        partition_index, error_code, more = _unpack_ihB(data, at)
        at += 7
        if more:
            at = skip_tags(data, at - 1)
        items.append(OffsetCommitResponsePartition(partition_index, error_code))
    return items, at


def _read_offset_commit_response_topics_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitResponseTopic], int]:
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 7)
        partitions, at = _read_offset_commit_response_partitions_v8(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetCommitResponseTopic(name, ZERO_UUID, partitions))
    return items, at


def _read_offset_commit_response_v8(data: memoryview, at: int) -> tuple[OffsetCommitResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_offset_commit_response_topics_v8(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetCommitResponse(throttle_time_ms, topics), at


def _read_offset_commit_response_topics_v10(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitResponseTopic], int]:
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 7)
        partitions, at = _read_offset_commit_response_partitions_v8(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetCommitResponseTopic("", topic_id, partitions))
    return items, at


def _read_offset_commit_response_v10(data: memoryview, at: int) -> tuple[OffsetCommitResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_offset_commit_response_topics_v10(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetCommitResponse(throttle_time_ms, topics), at


def _write_offset_commit_response_partitions_v2(items: Sequence[OffsetCommitResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)


def _write_offset_commit_response_topics_v2(items: Sequence[OffsetCommitResponseTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_commit_response_partitions_v2(item.partitions, out)


def _write_offset_commit_response_v2(item: OffsetCommitResponse, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_commit_response_topics_v2(item.topics, out)


def _write_offset_commit_response_v3(item: OffsetCommitResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_offset_commit_response_topics_v2(item.topics, out)


def _write_offset_commit_response_partitions_v8(items: Sequence[OffsetCommitResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_ihx(item.partition_index, item.error_code)


def _write_offset_commit_response_topics_v8(items: Sequence[OffsetCommitResponseTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_commit_response_partitions_v8(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_commit_response_v8(item: OffsetCommitResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_commit_response_topics_v8(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_offset_commit_response_topics_v10(items: Sequence[OffsetCommitResponseTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_commit_response_partitions_v8(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_commit_response_v10(item: OffsetCommitResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_commit_response_topics_v10(item.topics, out)
    else:
        out.append(1)
    out.append(0)


OffsetCommitResponse.DECODERS = {
    2: _read_offset_commit_response_v2,
    3: _read_offset_commit_response_v3,
    4: _read_offset_commit_response_v3,
    5: _read_offset_commit_response_v3,
    6: _read_offset_commit_response_v3,
    7: _read_offset_commit_response_v3,
    8: _read_offset_commit_response_v8,
    9: _read_offset_commit_response_v8,
    10: _read_offset_commit_response_v10,
}
OffsetCommitResponse.ENCODERS = {
    2: _write_offset_commit_response_v2,
    3: _write_offset_commit_response_v3,
    4: _write_offset_commit_response_v3,
    5: _write_offset_commit_response_v3,
    6: _write_offset_commit_response_v3,
    7: _write_offset_commit_response_v3,
    8: _write_offset_commit_response_v8,
    9: _write_offset_commit_response_v8,
    10: _write_offset_commit_response_v10,
}
