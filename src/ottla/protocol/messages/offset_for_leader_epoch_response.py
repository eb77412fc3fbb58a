"""Generated from schemas/offset_for_leader_epoch.schema: OffsetForLeaderEpochResponse, versions 2-4. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

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

_unpack_hiiq = Layout(">hiiq").unpack_from
_pack_hiiq = Layout(">hiiq").pack
_unpack_hiiqB = Layout(">hiiqB").unpack_from
_pack_hiiqx = Layout(">hiiqx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class OffsetForLeaderEpochResponse(Message):
    __slots__ = ("throttle_time_ms", "topics",)
    API_KEY = 23
    VERSIONS = range(2, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetForLeaderTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class EpochEndOffset(Struct):
    __slots__ = ("error_code", "partition", "leader_epoch", "end_offset",)

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset


class OffsetForLeaderTopicResult(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[EpochEndOffset] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


def _read_epoch_end_offsets_v2(data: memoryview, at: int, count: int) -> tuple[list[EpochEndOffset], int]:
    items: list[EpochEndOffset] = []
    for _ in range(count):
        error_code, partition, leader_epoch, end_offset = _unpack_hiiq(data, at)
        at += 18
        items.append(EpochEndOffset(error_code, partition, leader_epoch, end_offset))
    return items, at


def _read_offset_for_leader_topic_results_v2(data: memoryview, at: int, count: int) -> tuple[list[OffsetForLeaderTopicResult], int]:
    items: list[OffsetForLeaderTopicResult] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 18)
        partitions, at = _read_epoch_end_offsets_v2(data, at, count) if count else ([], at)
        items.append(OffsetForLeaderTopicResult(topic, partitions))
    return items, at


def _read_offset_for_leader_epoch_response_v2(data: memoryview, at: int) -> tuple[OffsetForLeaderEpochResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_for_leader_topic_results_v2(data, at, count) if count else ([], at)
    return OffsetForLeaderEpochResponse(throttle_time_ms, topics), at


def _read_epoch_end_offsets_v4(data: memoryview, at: int, count: int) -> tuple[list[EpochEndOffset], int]:
    items: list[EpochEndOffset] = []
    for _ in range(count):
        error_code, partition, leader_epoch, end_offset, more = _unpack_hiiqB(data, at)
        at += 19
        if more:
            at = skip_tags(data, at - 1)
        items.append(EpochEndOffset(error_code, partition, leader_epoch, end_offset))
    return items, at


def _read_offset_for_leader_topic_results_v4(data: memoryview, at: int, count: int) -> tuple[list[OffsetForLeaderTopicResult], int]:
    items: list[OffsetForLeaderTopicResult] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 19)
        partitions, at = _read_epoch_end_offsets_v4(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetForLeaderTopicResult(topic, partitions))
    return items, at


def _read_offset_for_leader_epoch_response_v4(data: memoryview, at: int) -> tuple[OffsetForLeaderEpochResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_offset_for_leader_topic_results_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetForLeaderEpochResponse(throttle_time_ms, topics), at


def _write_epoch_end_offsets_v2(items: Sequence[EpochEndOffset], out: bytearray) -> None:
    for item in items:
        out += _pack_hiiq(item.error_code, item.partition, item.leader_epoch, item.end_offset)


def _write_offset_for_leader_topic_results_v2(items: Sequence[OffsetForLeaderTopicResult], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_epoch_end_offsets_v2(item.partitions, out)


def _write_offset_for_leader_epoch_response_v2(item: OffsetForLeaderEpochResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_offset_for_leader_topic_results_v2(item.topics, out)


def _write_epoch_end_offsets_v4(items: Sequence[EpochEndOffset], out: bytearray) -> None:
    for item in items:
        out += _pack_hiiqx(item.error_code, item.partition, item.leader_epoch, item.end_offset)


def _write_offset_for_leader_topic_results_v4(items: Sequence[OffsetForLeaderTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_epoch_end_offsets_v4(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_for_leader_epoch_response_v4(item: OffsetForLeaderEpochResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_for_leader_topic_results_v4(item.topics, out)
    else:
        out.append(1)
    out.append(0)


OffsetForLeaderEpochResponse.DECODERS = {
    2: _read_offset_for_leader_epoch_response_v2,
    3: _read_offset_for_leader_epoch_response_v2,
    4: _read_offset_for_leader_epoch_response_v4,
}
OffsetForLeaderEpochResponse.ENCODERS = {
    2: _write_offset_for_leader_epoch_response_v2,
    3: _write_offset_for_leader_epoch_response_v2,
    4: _write_offset_for_leader_epoch_response_v4,
}
