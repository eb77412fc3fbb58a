"""Generated from schemas/txn_offset_commit.schema: TxnOffsetCommitRequest, versions 0-5. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

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

_pack_i = Layout(">i").pack
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_unpack_iqi = Layout(">iqi").unpack_from
_pack_iqi = Layout(">iqi").pack
_unpack_qh = Layout(">qh").unpack_from
_unpack_qhi = Layout(">qhi").unpack_from
_pack_qhi = Layout(">qhi").pack


class TxnOffsetCommitRequest(Message):
    __slots__ = ("transactional_id", "group_id", "producer_id", "producer_epoch", "generation_id", "member_id", "group_instance_id", "topics",)
    API_KEY = 28
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: Sequence[TxnOffsetCommitRequestTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = topics


class TxnOffsetCommitRequestPartition(Struct):
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


class TxnOffsetCommitRequestTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[TxnOffsetCommitRequestPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_txn_offset_commit_request_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        partition_index, committed_offset = _unpack_iq(data, at)
        at += 12
        committed_metadata, at = read_nullable_string(data, at)
        items.append(TxnOffsetCommitRequestPartition(partition_index, committed_offset, -1, committed_metadata))
    return items, at


def _read_txn_offset_commit_request_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 14)
        partitions, at = _read_txn_offset_commit_request_partitions_v0(data, at, count) if count else ([], at)
        items.append(TxnOffsetCommitRequestTopic(name, partitions))
    return items, at


def _read_txn_offset_commit_request_v0(data: memoryview, at: int) -> tuple[TxnOffsetCommitRequest, int]:
    transactional_id, at = read_string(data, at)
    group_id, at = read_string(data, at)
    producer_id, producer_epoch = _unpack_qh(data, at)
    at += 10
    count, at = read_count(data, at, 6)
    topics, at = _read_txn_offset_commit_request_topics_v0(data, at, count) if count else ([], at)
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics), at


def _read_txn_offset_commit_request_partitions_v2(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        partition_index, committed_offset, committed_leader_epoch = _unpack_iqi(data, at)
        at += 16
        committed_metadata, at = read_nullable_string(data, at)
        items.append(TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata))
    return items, at


def _read_txn_offset_commit_request_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 18)
        partitions, at = _read_txn_offset_commit_request_partitions_v2(data, at, count) if count else ([], at)
        items.append(TxnOffsetCommitRequestTopic(name, partitions))
    return items, at


def _read_txn_offset_commit_request_v2(data: memoryview, at: int) -> tuple[TxnOffsetCommitRequest, int]:
    transactional_id, at = read_string(data, at)
    group_id, at = read_string(data, at)
    producer_id, producer_epoch = _unpack_qh(data, at)
    at += 10
    count, at = read_count(data, at, 6)
    topics, at = _read_txn_offset_commit_request_topics_v2(data, at, count) if count else ([], at)
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics), at


def _read_txn_offset_commit_request_partitions_v3(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        partition_index, committed_offset, committed_leader_epoch = _unpack_iqi(data, at)
        at += 16
        committed_metadata: str | None = None
        if data[at]:
            committed_metadata, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata))
    return items, at


def _read_txn_offset_commit_request_topics_v3(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 18)
        partitions, at = _read_txn_offset_commit_request_partitions_v3(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TxnOffsetCommitRequestTopic(name, partitions))
    return items, at


def _read_txn_offset_commit_request_v3(data: memoryview, at: int) -> tuple[TxnOffsetCommitRequest, int]:
    transactional_id, at = read_compact_string(data, at)
    group_id, at = read_compact_string(data, at)
    producer_id, producer_epoch, generation_id = _unpack_qhi(data, at)
    at += 14
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_txn_offset_commit_request_topics_v3(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, generation_id, member_id, group_instance_id, topics), at


def _write_txn_offset_commit_request_partitions_v0(items: Sequence[TxnOffsetCommitRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iq(item.partition_index, item.committed_offset)
        write_nullable_string(item.committed_metadata, out)


def _write_txn_offset_commit_request_topics_v0(items: Sequence[TxnOffsetCommitRequestTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_txn_offset_commit_request_partitions_v0(item.partitions, out)


def _write_txn_offset_commit_request_v0(item: TxnOffsetCommitRequest, out: bytearray) -> None:
    if item.generation_id != -1:
        refuse_field("TxnOffsetCommitRequest.generation_id")
    if item.member_id != "":
        refuse_field("TxnOffsetCommitRequest.member_id")
    if item.group_instance_id is not None:
        refuse_field("TxnOffsetCommitRequest.group_instance_id")
    write_string(item.transactional_id, out)
    write_string(item.group_id, out)
    out += _pack_qhi(item.producer_id, item.producer_epoch, len(item.topics))
    if item.topics:
        _write_txn_offset_commit_request_topics_v0(item.topics, out)


def _write_txn_offset_commit_request_partitions_v2(items: Sequence[TxnOffsetCommitRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqi(item.partition_index, item.committed_offset, item.committed_leader_epoch)
        write_nullable_string(item.committed_metadata, out)


def _write_txn_offset_commit_request_topics_v2(items: Sequence[TxnOffsetCommitRequestTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_txn_offset_commit_request_partitions_v2(item.partitions, out)


def _write_txn_offset_commit_request_v2(item: TxnOffsetCommitRequest, out: bytearray) -> None:
    if item.generation_id != -1:
        refuse_field("TxnOffsetCommitRequest.generation_id")
    if item.member_id != "":
        refuse_field("TxnOffsetCommitRequest.member_id")
    if item.group_instance_id is not None:
        refuse_field("TxnOffsetCommitRequest.group_instance_id")
    write_string(item.transactional_id, out)
    write_string(item.group_id, out)
    out += _pack_qhi(item.producer_id, item.producer_epoch, len(item.topics))
    if item.topics:
        _write_txn_offset_commit_request_topics_v2(item.topics, out)


def _write_txn_offset_commit_request_partitions_v3(items: Sequence[TxnOffsetCommitRequestPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqi(item.partition_index, item.committed_offset, item.committed_leader_epoch)
        if item.committed_metadata is None:
            out.append(0)
        else:
            write_compact_string(item.committed_metadata, out)
        out.append(0)


def _write_txn_offset_commit_request_topics_v3(items: Sequence[TxnOffsetCommitRequestTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_txn_offset_commit_request_partitions_v3(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_txn_offset_commit_request_v3(item: TxnOffsetCommitRequest, out: bytearray) -> None:
    write_compact_string(item.transactional_id, out)
    write_compact_string(item.group_id, out)
    out += _pack_qhi(item.producer_id, item.producer_epoch, item.generation_id)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_txn_offset_commit_request_topics_v3(item.topics, out)
    else:
        out.append(1)
    out.append(0)


TxnOffsetCommitRequest.DECODERS = {
    0: _read_txn_offset_commit_request_v0,
    1: _read_txn_offset_commit_request_v0,
    2: _read_txn_offset_commit_request_v2,
    3: _read_txn_offset_commit_request_v3,
    4: _read_txn_offset_commit_request_v3,
    5: _read_txn_offset_commit_request_v3,
}
TxnOffsetCommitRequest.ENCODERS = {
    0: _write_txn_offset_commit_request_v0,
    1: _write_txn_offset_commit_request_v0,
    2: _write_txn_offset_commit_request_v2,
    3: _write_txn_offset_commit_request_v3,
    4: _write_txn_offset_commit_request_v3,
    5: _write_txn_offset_commit_request_v3,
}
