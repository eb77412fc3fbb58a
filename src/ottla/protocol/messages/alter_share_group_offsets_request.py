"""Generated from schemas/alter_share_group_offsets.schema: AlterShareGroupOffsetsRequest, versions 0. Do not edit."""

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

_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack


class AlterShareGroupOffsetsRequest(Message):
    __slots__ = ("group_id", "topics",)
    API_KEY = 91
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[AlterShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class AlterShareGroupOffsetsRequestPartition(Struct):
    __slots__ = ("partition_index", "start_offset",)

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset


class AlterShareGroupOffsetsRequestTopic(Struct):
    __slots__ = ("topic_name", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[AlterShareGroupOffsetsRequestPartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


def _read_alter_share_group_offsets_request_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterShareGroupOffsetsRequestPartition], int]:
    items: list[AlterShareGroupOffsetsRequestPartition] = []
    for _ in range(count):
        partition_index, start_offset, more = _unpack_iqB(data, at)
        at += 13
        if more:
            at = skip_tags(data, at - 1)
        items.append(AlterShareGroupOffsetsRequestPartition(partition_index, start_offset))
    return items, at


def _read_alter_share_group_offsets_request_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterShareGroupOffsetsRequestTopic], int]:
    items: list[AlterShareGroupOffsetsRequestTopic] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 13)
        partitions, at = _read_alter_share_group_offsets_request_partitions_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterShareGroupOffsetsRequestTopic(topic_name, partitions))
    return items, at


def _read_alter_share_group_offsets_request_v0(data: memoryview, at: int) -> tuple[AlterShareGroupOffsetsRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_alter_share_group_offsets_request_topics_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterShareGroupOffsetsRequest(group_id, topics), at


def _write_alter_share_group_offsets_request_partitions_v0(items: Sequence[AlterShareGroupOffsetsRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqx(item.partition_index, item.start_offset)


def _write_alter_share_group_offsets_request_topics_v0(items: Sequence[AlterShareGroupOffsetsRequestTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_alter_share_group_offsets_request_partitions_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_share_group_offsets_request_v0(item: AlterShareGroupOffsetsRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_alter_share_group_offsets_request_topics_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


AlterShareGroupOffsetsRequest.DECODERS = {
    0: _read_alter_share_group_offsets_request_v0,
}
AlterShareGroupOffsetsRequest.ENCODERS = {
    0: _write_alter_share_group_offsets_request_v0,
}
