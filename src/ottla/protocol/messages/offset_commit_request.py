"""Generated from schemas/offset_commit.schema: OffsetCommitRequest, versions 2-10. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_unpack_iqi = Layout(">iqi").unpack_from
_pack_iqi = Layout(">iqi").pack
_unpack_q = Layout(">q").unpack_from
_pack_qi = Layout(">qi").pack


class OffsetCommitRequest(Message):
    __slots__ = ("group_id", "generation_id_or_member_epoch", "member_id", "group_instance_id", "retention_time_ms", "topics",)
    API_KEY = 8
    VERSIONS = range(2, 11)
    FLEXIBLE_FROM = 8

    def __init__(
        self,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: Sequence[OffsetCommitRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = topics


class OffsetCommitRequestPartition(Struct):
    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata",)

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata


class OffsetCommitRequestTopic(Struct):
    __slots__ = ("name", "topic_id", "partitions",)

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[OffsetCommitRequestPartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


def _read_offset_commit_request_partitions_v2(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitRequestPartition], int]:
    items: list[OffsetCommitRequestPartition] = []
    for _ in range(count):
        partition_index, committed_offset = _unpack_iq(data, at)
        at += 12
        committed_metadata, at = read_nullable_string(data, at)
        items.append(OffsetCommitRequestPartition(partition_index, committed_offset, -1, committed_metadata))
    return items, at


def _read_offset_commit_request_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitRequestTopic], int]:
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 14)
        partitions, at = _read_offset_commit_request_partitions_v2(data, at, count) if count else ([], at)
        items.append(OffsetCommitRequestTopic(name, ZERO_UUID, partitions))
    return items, at


def _read_offset_commit_request_v2(data: memoryview, at: int) -> tuple[OffsetCommitRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id_or_member_epoch,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    (retention_time_ms,) = _unpack_q(data, at)
    at += 8
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_commit_request_topics_v2(data, at, count) if count else ([], at)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, retention_time_ms, topics), at


def _read_offset_commit_request_v5(data: memoryview, at: int) -> tuple[OffsetCommitRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id_or_member_epoch,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_commit_request_topics_v2(data, at, count) if count else ([], at)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics), at


def _read_offset_commit_request_partitions_v6(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitRequestPartition], int]:
    items: list[OffsetCommitRequestPartition] = []
    for _ in range(count):
        partition_index, committed_offset, committed_leader_epoch = _unpack_iqi(data, at)
        at += 16
        committed_metadata, at = read_nullable_string(data, at)
        items.append(OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata))
    return items, at


def _read_offset_commit_request_topics_v6(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitRequestTopic], int]:
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 18)
        partitions, at = _read_offset_commit_request_partitions_v6(data, at, count) if count else ([], at)
        items.append(OffsetCommitRequestTopic(name, ZERO_UUID, partitions))
    return items, at


def _read_offset_commit_request_v6(data: memoryview, at: int) -> tuple[OffsetCommitRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id_or_member_epoch,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_commit_request_topics_v6(data, at, count) if count else ([], at)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics), at


def _read_offset_commit_request_v7(data: memoryview, at: int) -> tuple[OffsetCommitRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id_or_member_epoch,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    group_instance_id, at = read_nullable_string(data, at)
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_commit_request_topics_v6(data, at, count) if count else ([], at)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics), at


def _read_offset_commit_request_partitions_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitRequestPartition], int]:
    items: list[OffsetCommitRequestPartition] = []
    for _ in range(count):
        partition_index, committed_offset, committed_leader_epoch = _unpack_iqi(data, at)
        at += 16
        committed_metadata: str | None = None
        if data[at]:
            committed_metadata, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata))
    return items, at


def _read_offset_commit_request_topics_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitRequestTopic], int]:
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 18)
        partitions, at = _read_offset_commit_request_partitions_v8(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetCommitRequestTopic(name, ZERO_UUID, partitions))
    return items, at


def _read_offset_commit_request_v8(data: memoryview, at: int) -> tuple[OffsetCommitRequest, int]:
    group_id, at = read_compact_string(data, at)
    (generation_id_or_member_epoch,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_offset_commit_request_topics_v8(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics), at


def _read_offset_commit_request_topics_v10(data: memoryview, at: int, count: int) -> tuple[list[OffsetCommitRequestTopic], int]:
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 18)
        partitions, at = _read_offset_commit_request_partitions_v8(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetCommitRequestTopic("", topic_id, partitions))
    return items, at


def _read_offset_commit_request_v10(data: memoryview, at: int) -> tuple[OffsetCommitRequest, int]:
    group_id, at = read_compact_string(data, at)
    (generation_id_or_member_epoch,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_offset_commit_request_topics_v10(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics), at


def _write_offset_commit_request_partitions_v2(items: Sequence[OffsetCommitRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iq(item.partition_index, item.committed_offset)
        write_nullable_string(item.committed_metadata, out)


def _write_offset_commit_request_topics_v2(items: Sequence[OffsetCommitRequestTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_commit_request_partitions_v2(item.partitions, out)


def _write_offset_commit_request_v2(item: OffsetCommitRequest, out: bytearray) -> None:
    if item.group_instance_id is not None:
        refuse_field("OffsetCommitRequest.group_instance_id")
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id_or_member_epoch)
    write_string(item.member_id, out)
    out += _pack_qi(item.retention_time_ms, len(item.topics))
    if item.topics:
        _write_offset_commit_request_topics_v2(item.topics, out)


def _write_offset_commit_request_v5(item: OffsetCommitRequest, out: bytearray) -> None:
    if item.group_instance_id is not None:
        refuse_field("OffsetCommitRequest.group_instance_id")
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id_or_member_epoch)
    write_string(item.member_id, out)
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_commit_request_topics_v2(item.topics, out)


def _write_offset_commit_request_partitions_v6(items: Sequence[OffsetCommitRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqi(item.partition_index, item.committed_offset, item.committed_leader_epoch)
        write_nullable_string(item.committed_metadata, out)


def _write_offset_commit_request_topics_v6(items: Sequence[OffsetCommitRequestTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_commit_request_partitions_v6(item.partitions, out)


def _write_offset_commit_request_v6(item: OffsetCommitRequest, out: bytearray) -> None:
    if item.group_instance_id is not None:
        refuse_field("OffsetCommitRequest.group_instance_id")
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id_or_member_epoch)
    write_string(item.member_id, out)
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_commit_request_topics_v6(item.topics, out)


def _write_offset_commit_request_v7(item: OffsetCommitRequest, out: bytearray) -> None:
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id_or_member_epoch)
    write_string(item.member_id, out)
    write_nullable_string(item.group_instance_id, out)
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_commit_request_topics_v6(item.topics, out)


def _write_offset_commit_request_partitions_v8(items: Sequence[OffsetCommitRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqi(item.partition_index, item.committed_offset, item.committed_leader_epoch)
        if item.committed_metadata is None:
            out.append(0)
        else:
            write_compact_string(item.committed_metadata, out)
        out.append(0)


def _write_offset_commit_request_topics_v8(items: Sequence[OffsetCommitRequestTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_commit_request_partitions_v8(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_commit_request_v8(item: OffsetCommitRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    out += _pack_i(item.generation_id_or_member_epoch)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_commit_request_topics_v8(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_offset_commit_request_topics_v10(items: Sequence[OffsetCommitRequestTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_commit_request_partitions_v8(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_commit_request_v10(item: OffsetCommitRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    out += _pack_i(item.generation_id_or_member_epoch)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_commit_request_topics_v10(item.topics, out)
    else:
        out.append(1)
    out.append(0)


OffsetCommitRequest.DECODERS = {
    2: _read_offset_commit_request_v2,
    3: _read_offset_commit_request_v2,
    4: _read_offset_commit_request_v2,
    5: _read_offset_commit_request_v5,
    6: _read_offset_commit_request_v6,
    7: _read_offset_commit_request_v7,
    8: _read_offset_commit_request_v8,
    9: _read_offset_commit_request_v8,
    10: _read_offset_commit_request_v10,
}
OffsetCommitRequest.ENCODERS = {
    2: _write_offset_commit_request_v2,
    3: _write_offset_commit_request_v2,
    4: _write_offset_commit_request_v2,
    5: _write_offset_commit_request_v5,
    6: _write_offset_commit_request_v6,
    7: _write_offset_commit_request_v7,
    8: _write_offset_commit_request_v8,
    9: _write_offset_commit_request_v8,
    10: _write_offset_commit_request_v10,
}
