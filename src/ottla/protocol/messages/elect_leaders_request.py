"""Generated from schemas/elect_leaders.schema: ElectLeadersRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_count,
    read_nullable_count,
    read_numbers,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_string,
)

_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_pack_bi = Layout(">bi").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class ElectLeadersRequest(Message):
    __slots__ = ("election_type", "topic_partitions", "timeout_ms",)
    API_KEY = 43
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: Sequence[TopicPartitions] | None = (),
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = topic_partitions
        self.timeout_ms = timeout_ms


class TopicPartitions(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


def _read_topic_partitionss_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(TopicPartitions(topic, partitions))
    return items, at


def _read_elect_leaders_request_v0(data: memoryview, at: int) -> tuple[ElectLeadersRequest, int]:
    count, at = read_nullable_count(data, at, 6)
    topic_partitions: list[TopicPartitions] | None = None
    if count >= 0:
        topic_partitions, at = _read_topic_partitionss_v0(data, at, count)
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    return ElectLeadersRequest(0, topic_partitions, timeout_ms), at


def _read_elect_leaders_request_v1(data: memoryview, at: int) -> tuple[ElectLeadersRequest, int]:
    (election_type,) = _unpack_b(data, at)
    at += 1
    count, at = read_nullable_count(data, at, 6)
    topic_partitions: list[TopicPartitions] | None = None
    if count >= 0:
        topic_partitions, at = _read_topic_partitionss_v0(data, at, count)
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    return ElectLeadersRequest(election_type, topic_partitions, timeout_ms), at


def _read_topic_partitionss_v2(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartitions(topic, partitions))
    return items, at


def _read_elect_leaders_request_v2(data: memoryview, at: int) -> tuple[ElectLeadersRequest, int]:
    (election_type,) = _unpack_b(data, at)
    at += 1
    count, at = read_compact_nullable_count(data, at, 3)
    topic_partitions: list[TopicPartitions] | None = None
    if count >= 0:
        topic_partitions, at = _read_topic_partitionss_v2(data, at, count)
    timeout_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return ElectLeadersRequest(election_type, topic_partitions, timeout_ms), at


def _write_topic_partitionss_v0(items: Sequence[TopicPartitions], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            write_numbers(item.partitions, "i", out)


def _write_elect_leaders_request_v0(item: ElectLeadersRequest, out: bytearray) -> None:
    if item.election_type != 0:
        refuse_field("ElectLeadersRequest.election_type")
    out += _pack_i(-1 if item.topic_partitions is None else len(item.topic_partitions))
    if item.topic_partitions:
        _write_topic_partitionss_v0(item.topic_partitions, out)
    out += _pack_i(item.timeout_ms)


def _write_elect_leaders_request_v1(item: ElectLeadersRequest, out: bytearray) -> None:
    out += _pack_bi(item.election_type, -1 if item.topic_partitions is None else len(item.topic_partitions))
    if item.topic_partitions:
        _write_topic_partitionss_v0(item.topic_partitions, out)
    out += _pack_i(item.timeout_ms)


def _write_topic_partitionss_v2(items: Sequence[TopicPartitions], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_elect_leaders_request_v2(item: ElectLeadersRequest, out: bytearray) -> None:
    out += _pack_b(item.election_type)
    if item.topic_partitions:
        out += uvarint(len(item.topic_partitions) + 1)
        _write_topic_partitionss_v2(item.topic_partitions, out)
    else:
        out.append(0 if item.topic_partitions is None else 1)
    out += _pack_ix(item.timeout_ms)


ElectLeadersRequest.DECODERS = {
    0: _read_elect_leaders_request_v0,
    1: _read_elect_leaders_request_v1,
    2: _read_elect_leaders_request_v2,
}
ElectLeadersRequest.ENCODERS = {
    0: _write_elect_leaders_request_v0,
    1: _write_elect_leaders_request_v1,
    2: _write_elect_leaders_request_v2,
}
