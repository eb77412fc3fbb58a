"""Generated from schemas/vote.schema: VoteRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iiiuuiqtB = Layout(">iii16s16siq?B").unpack_from
_pack_iiiuuiqtx = Layout(">iii16s16siq?x").pack
_unpack_iiiuuiqB = Layout(">iii16s16siqB").unpack_from
_pack_iiiuuiqx = Layout(">iii16s16siqx").pack
_unpack_iiiiqB = Layout(">iiiiqB").unpack_from
_pack_iiiiqx = Layout(">iiiiqx").pack


class VoteRequest(Message):
    __slots__ = ("cluster_id", "voter_id", "topics",)
    API_KEY = 52
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = topics


class PartitionData(Struct):
    __slots__ = ("partition_index", "replica_epoch", "replica_id", "replica_directory_id", "voter_directory_id", "last_offset_epoch", "last_offset", "pre_vote",)

    def __init__(
        self,
        partition_index: int = 0,
        replica_epoch: int = 0,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        voter_directory_id: bytes = ZERO_UUID,
        last_offset_epoch: int = 0,
        last_offset: int = 0,
        pre_vote: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.replica_epoch = replica_epoch
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.voter_directory_id = voter_directory_id
        self.last_offset_epoch = last_offset_epoch
        self.last_offset = last_offset
        self.pre_vote = pre_vote


class TopicData(Struct):
    __slots__ = ("topic_name", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


def _read_partition_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, replica_epoch, replica_id, last_offset_epoch, last_offset, more = _unpack_iiiiqB(data, at)
        at += 25
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, replica_epoch, replica_id, ZERO_UUID, ZERO_UUID, last_offset_epoch, last_offset, False))
    return items, at


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 25)
        partitions, at = _read_partition_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_vote_request_v0(data: memoryview, at: int) -> tuple[VoteRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return VoteRequest(cluster_id, -1, topics), at


def _read_partition_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id, last_offset_epoch, last_offset, more = _unpack_iiiuuiqB(data, at)
        at += 57
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id, last_offset_epoch, last_offset, False))
    return items, at


def _read_topic_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 57)
        partitions, at = _read_partition_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_vote_request_v1(data: memoryview, at: int) -> tuple[VoteRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (voter_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return VoteRequest(cluster_id, voter_id, topics), at


def _read_partition_datas_v2(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id, last_offset_epoch, last_offset, pre_vote, more = _unpack_iiiuuiqtB(data, at)
        at += 58
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionData(partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id, last_offset_epoch, last_offset, pre_vote))
    return items, at


def _read_topic_datas_v2(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 58)
        partitions, at = _read_partition_datas_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic_name, partitions))
    return items, at


def _read_vote_request_v2(data: memoryview, at: int) -> tuple[VoteRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (voter_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_datas_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return VoteRequest(cluster_id, voter_id, topics), at


def _write_partition_datas_v0(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        if item.pre_vote:
            refuse_field("PartitionData.pre_vote")
        out += _pack_iiiiqx(item.partition_index, item.replica_epoch, item.replica_id, item.last_offset_epoch, item.last_offset)


def _write_topic_datas_v0(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_vote_request_v0(item: VoteRequest, out: bytearray) -> None:
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_partition_datas_v1(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        if item.pre_vote:
            refuse_field("PartitionData.pre_vote")
        out += _pack_iiiuuiqx(item.partition_index, item.replica_epoch, item.replica_id, item.replica_directory_id, item.voter_directory_id, item.last_offset_epoch, item.last_offset)


def _write_topic_datas_v1(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_vote_request_v1(item: VoteRequest, out: bytearray) -> None:
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.voter_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v1(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_partition_datas_v2(items: Sequence[PartitionData], out: bytearray) -> None:
    for item in items:
        out += _pack_iiiuuiqtx(item.partition_index, item.replica_epoch, item.replica_id, item.replica_directory_id, item.voter_directory_id, item.last_offset_epoch, item.last_offset, item.pre_vote)


def _write_topic_datas_v2(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_datas_v2(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_vote_request_v2(item: VoteRequest, out: bytearray) -> None:
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.voter_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_datas_v2(item.topics, out)
    else:
        out.append(1)
    out.append(0)


VoteRequest.DECODERS = {
    0: _read_vote_request_v0,
    1: _read_vote_request_v1,
    2: _read_vote_request_v2,
}
VoteRequest.ENCODERS = {
    0: _write_vote_request_v0,
    1: _write_vote_request_v1,
    2: _write_vote_request_v2,
}
