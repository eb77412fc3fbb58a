"""Generated from schemas/data/share_group_state_partition_metadata_value.schema: ShareGroupStatePartitionMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack


class ShareGroupStatePartitionMetadataValue(Message):
    __slots__ = ("initializing_topics", "initialized_topics", "deleting_topics",)
    RECORD_TYPE = 15
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        initializing_topics: Sequence[TopicPartitionsInfo] = (),
        initialized_topics: Sequence[TopicPartitionsInfo] = (),
        deleting_topics: Sequence[TopicInfo] = (),
    ) -> None:
        self.initializing_topics = initializing_topics
        self.initialized_topics = initialized_topics
        self.deleting_topics = deleting_topics


class TopicPartitionsInfo(Struct):
    __slots__ = ("topic_id", "topic_name", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = partitions


class TopicInfo(Struct):
    __slots__ = ("topic_id", "topic_name",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name


def _read_topic_partitions_infos_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitionsInfo], int]:
    items: list[TopicPartitionsInfo] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartitionsInfo(topic_id, topic_name, partitions))
    return items, at


def _read_topic_infos_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicInfo], int]:
    items: list[TopicInfo] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        topic_name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicInfo(topic_id, topic_name))
    return items, at


def _read_share_group_state_partition_metadata_value_v0(data: memoryview, at: int) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
    count, at = read_compact_count(data, at, 19)
    initializing_topics, at = _read_topic_partitions_infos_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 19)
    initialized_topics, at = _read_topic_partitions_infos_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    deleting_topics, at = _read_topic_infos_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareGroupStatePartitionMetadataValue(initializing_topics, initialized_topics, deleting_topics), at


def _write_topic_partitions_infos_v0(items: Sequence[TopicPartitionsInfo], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_topic_infos_v0(items: Sequence[TopicInfo], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        write_compact_string(item.topic_name, out)
        out.append(0)


def _write_share_group_state_partition_metadata_value_v0(item: ShareGroupStatePartitionMetadataValue, out: bytearray) -> None:
    if item.initializing_topics:
        out += uvarint(len(item.initializing_topics) + 1)
        _write_topic_partitions_infos_v0(item.initializing_topics, out)
    else:
        out.append(1)
    if item.initialized_topics:
        out += uvarint(len(item.initialized_topics) + 1)
        _write_topic_partitions_infos_v0(item.initialized_topics, out)
    else:
        out.append(1)
    if item.deleting_topics:
        out += uvarint(len(item.deleting_topics) + 1)
        _write_topic_infos_v0(item.deleting_topics, out)
    else:
        out.append(1)
    out.append(0)


ShareGroupStatePartitionMetadataValue.DECODERS = {
    0: _read_share_group_state_partition_metadata_value_v0,
}
ShareGroupStatePartitionMetadataValue.ENCODERS = {
    0: _write_share_group_state_partition_metadata_value_v0,
}
