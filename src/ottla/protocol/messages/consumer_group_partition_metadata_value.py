"""Generated from schemas/data/consumer_group_partition_metadata_value.schema: ConsumerGroupPartitionMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class ConsumerGroupPartitionMetadataValue(Message):
    __slots__ = ("topics",)
    RECORD_TYPE = 4
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        topics: Sequence[TopicMetadata] = (),
    ) -> None:
        self.topics = topics


class PartitionMetadata(Struct):
    __slots__ = ("partition", "racks",)

    def __init__(
        self,
        partition: int = 0,
        racks: Sequence[str] = (),
    ) -> None:
        self.partition = partition
        self.racks = racks


class TopicMetadata(Struct):
    __slots__ = ("topic_id", "topic_name", "num_partitions", "partition_metadata",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: Sequence[PartitionMetadata] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = partition_metadata


def _read_partition_metadatas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionMetadata], int]:
    items: list[PartitionMetadata] = []
    for _ in range(count):
        (partition,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_count(data, at, 1)
        racks, at = read_compact_strings(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionMetadata(partition, racks))
    return items, at


def _read_topic_metadatas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicMetadata], int]:
    items: list[TopicMetadata] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        topic_name, at = read_compact_string(data, at)
        (num_partitions,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_count(data, at, 6)
        partition_metadata, at = _read_partition_metadatas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicMetadata(topic_id, topic_name, num_partitions, partition_metadata))
    return items, at


def _read_consumer_group_partition_metadata_value_v0(data: memoryview, at: int) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
    count, at = read_compact_count(data, at, 23)
    topics, at = _read_topic_metadatas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ConsumerGroupPartitionMetadataValue(topics), at


def _write_partition_metadatas_v0(items: Sequence[PartitionMetadata], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.partition)
        if item.racks:
            out += uvarint(len(item.racks) + 1)
            write_compact_strings(item.racks, out)
        else:
            out.append(1)
        out.append(0)


def _write_topic_metadatas_v0(items: Sequence[TopicMetadata], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        write_compact_string(item.topic_name, out)
        out += _pack_i(item.num_partitions)
        if item.partition_metadata:
            out += uvarint(len(item.partition_metadata) + 1)
            _write_partition_metadatas_v0(item.partition_metadata, out)
        else:
            out.append(1)
        out.append(0)


def _write_consumer_group_partition_metadata_value_v0(item: ConsumerGroupPartitionMetadataValue, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_metadatas_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


ConsumerGroupPartitionMetadataValue.DECODERS = {
    0: _read_consumer_group_partition_metadata_value_v0,
}
ConsumerGroupPartitionMetadataValue.ENCODERS = {
    0: _write_consumer_group_partition_metadata_value_v0,
}
