"""Generated from schemas/initialize_share_group_state.schema: InitializeShareGroupStateRequest, versions 0. Do not edit."""

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
_unpack_iiqB = Layout(">iiqB").unpack_from
_pack_iiqx = Layout(">iiqx").pack


class InitializeShareGroupStateRequest(Message):
    __slots__ = ("group_id", "topics",)
    API_KEY = 83
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[InitializeStateData] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class PartitionData(Struct):
    __slots__ = ("partition", "state_epoch", "start_offset",)

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.start_offset = start_offset


class InitializeStateData(Struct):
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
        partition, state_epoch, start_offset, more = _unpack_iiqB(data, at)
        at += 17
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition, state_epoch, start_offset))
    return items, at


def _read_initialize_state_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[InitializeStateData], int]:
    items: list[InitializeStateData] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 17)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(InitializeStateData(topic_id, partitions))
    return items, at


def _read_initialize_share_group_state_request_v0(data: memoryview, at: int) -> tuple[InitializeShareGroupStateRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_initialize_state_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return InitializeShareGroupStateRequest(group_id, topics), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_iiqx(item.partition, item.state_epoch, item.start_offset)


def _write_initialize_state_datas_v0(items: Sequence[InitializeStateData], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_initialize_share_group_state_request_v0(item: InitializeShareGroupStateRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_initialize_state_datas_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


InitializeShareGroupStateRequest.DECODERS = {
    0: _read_initialize_share_group_state_request_v0,
}
InitializeShareGroupStateRequest.ENCODERS = {
    0: _write_initialize_share_group_state_request_v0,
}
