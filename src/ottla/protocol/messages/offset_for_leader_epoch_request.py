"""Generated from schemas/offset_for_leader_epoch.schema: OffsetForLeaderEpochRequest, versions 2-4. Do not edit."""

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

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack
_unpack_iii = Layout(">iii").unpack_from
_pack_iii = Layout(">iii").pack
_unpack_iiiB = Layout(">iiiB").unpack_from
_pack_iiix = Layout(">iiix").pack


class OffsetForLeaderEpochRequest(Message):
    __slots__ = ("replica_id", "topics",)
    API_KEY = 23
    VERSIONS = range(2, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        replica_id: int = -2,
        topics: Sequence[OffsetForLeaderTopic] = (),
    ) -> None:
        self.replica_id = replica_id
        self.topics = topics


class OffsetForLeaderPartition(Struct):
    __slots__ = ("partition", "current_leader_epoch", "leader_epoch",)

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch


class OffsetForLeaderTopic(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[OffsetForLeaderPartition] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


def _read_offset_for_leader_partitions_v2(data: memoryview, at: int, count: int) -> tuple[list[OffsetForLeaderPartition], int]:
    items: list[OffsetForLeaderPartition] = []
    for _ in range(count):
        partition, current_leader_epoch, leader_epoch = _unpack_iii(data, at)
        at += 12
        items.append(OffsetForLeaderPartition(partition, current_leader_epoch, leader_epoch))
    return items, at


def _read_offset_for_leader_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[OffsetForLeaderTopic], int]:
    items: list[OffsetForLeaderTopic] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 12)
        partitions, at = _read_offset_for_leader_partitions_v2(data, at, count) if count else ([], at)
        items.append(OffsetForLeaderTopic(topic, partitions))
    return items, at


def _read_offset_for_leader_epoch_request_v2(data: memoryview, at: int) -> tuple[OffsetForLeaderEpochRequest, int]:
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_for_leader_topics_v2(data, at, count) if count else ([], at)
    return OffsetForLeaderEpochRequest(-2, topics), at


def _read_offset_for_leader_epoch_request_v3(data: memoryview, at: int) -> tuple[OffsetForLeaderEpochRequest, int]:
    (replica_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_for_leader_topics_v2(data, at, count) if count else ([], at)
    return OffsetForLeaderEpochRequest(replica_id, topics), at


def _read_offset_for_leader_partitions_v4(data: memoryview, at: int, count: int) -> tuple[list[OffsetForLeaderPartition], int]:
    items: list[OffsetForLeaderPartition] = []
    for _ in range(count):
        partition, current_leader_epoch, leader_epoch, more = _unpack_iiiB(data, at)
        at += 13
        if more:
            at = skip_tags(data, at - 1)
        items.append(OffsetForLeaderPartition(partition, current_leader_epoch, leader_epoch))
    return items, at


def _read_offset_for_leader_topics_v4(data: memoryview, at: int, count: int) -> tuple[list[OffsetForLeaderTopic], int]:
    items: list[OffsetForLeaderTopic] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 13)
        partitions, at = _read_offset_for_leader_partitions_v4(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetForLeaderTopic(topic, partitions))
    return items, at


def _read_offset_for_leader_epoch_request_v4(data: memoryview, at: int) -> tuple[OffsetForLeaderEpochRequest, int]:
    (replica_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_offset_for_leader_topics_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetForLeaderEpochRequest(replica_id, topics), at


def _write_offset_for_leader_partitions_v2(items: Sequence[OffsetForLeaderPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iii(item.partition, item.current_leader_epoch, item.leader_epoch)


def _write_offset_for_leader_topics_v2(items: Sequence[OffsetForLeaderTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_for_leader_partitions_v2(item.partitions, out)


def _write_offset_for_leader_epoch_request_v2(item: OffsetForLeaderEpochRequest, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_for_leader_topics_v2(item.topics, out)


def _write_offset_for_leader_epoch_request_v3(item: OffsetForLeaderEpochRequest, out: bytearray) -> None:
    out += _pack_ii(item.replica_id, len(item.topics))
    if item.topics:
        _write_offset_for_leader_topics_v2(item.topics, out)


def _write_offset_for_leader_partitions_v4(items: Sequence[OffsetForLeaderPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iiix(item.partition, item.current_leader_epoch, item.leader_epoch)


def _write_offset_for_leader_topics_v4(items: Sequence[OffsetForLeaderTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_for_leader_partitions_v4(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_for_leader_epoch_request_v4(item: OffsetForLeaderEpochRequest, out: bytearray) -> None:
    out += _pack_i(item.replica_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_for_leader_topics_v4(item.topics, out)
    else:
        out.append(1)
    out.append(0)


OffsetForLeaderEpochRequest.DECODERS = {
    2: _read_offset_for_leader_epoch_request_v2,
    3: _read_offset_for_leader_epoch_request_v3,
    4: _read_offset_for_leader_epoch_request_v4,
}
OffsetForLeaderEpochRequest.ENCODERS = {
    2: _write_offset_for_leader_epoch_request_v2,
    3: _write_offset_for_leader_epoch_request_v3,
    4: _write_offset_for_leader_epoch_request_v4,
}
