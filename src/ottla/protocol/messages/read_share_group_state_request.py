"""Generated from schemas/read_share_group_state.schema: ReadShareGroupStateRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_iiB = Layout(">iiB").unpack_from
_pack_iix = Layout(">iix").pack


class ReadShareGroupStateRequest(Message):
    __slots__ = ("group_id", "topics",)
    API_KEY = 84
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[ReadStateData] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class PartitionData(Struct):
    __slots__ = ("partition", "leader_epoch",)

    def __init__(
        self,
        partition: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch


class ReadStateData(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition, leader_epoch, more = _unpack_iiB(data, at)
        at += 9
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition, leader_epoch))
    return items, at


def _read_read_state_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[ReadStateData], int]:
    items: list[ReadStateData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 9)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReadStateData(topic_id, partitions))
    return items, at


def _read_read_share_group_state_request_v0(data: memoryview, at: int) -> tuple[ReadShareGroupStateRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_read_state_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ReadShareGroupStateRequest(group_id, topics), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_iix(item.partition, item.leader_epoch)


def _write_read_state_datas_v0(items: Sequence[ReadStateData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_read_share_group_state_request_v0(item: ReadShareGroupStateRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_read_state_datas_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


ReadShareGroupStateRequest.DECODERS = {
    0: _read_read_share_group_state_request_v0,
}
ReadShareGroupStateRequest.ENCODERS = {
    0: _write_read_share_group_state_request_v0,
}
