"""Generated from schemas/alter_partition_reassignments.schema: AlterPartitionReassignmentsRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_it = Layout(">i?").unpack_from
_pack_it = Layout(">i?").pack


class AlterPartitionReassignmentsRequest(Message):
    __slots__ = ("timeout_ms", "allow_replication_factor_change", "topics",)
    API_KEY = 45
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: Sequence[ReassignableTopic] = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = topics


class ReassignablePartition(Struct):
    __slots__ = ("partition_index", "replicas",)

    def __init__(
        self,
        partition_index: int = 0,
        replicas: Sequence[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas


class ReassignableTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ReassignablePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_reassignable_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[ReassignablePartition], int]:
    items: list[ReassignablePartition] = []
    for _ in range(count):
        (partition_index,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_nullable_count(data, at, 4)
        replicas: list[int] | None = None
        if count >= 0:
            replicas, at = read_numbers(data, at, count, "i")
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReassignablePartition(partition_index, replicas))
    return items, at


def _read_reassignable_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[ReassignableTopic], int]:
    items: list[ReassignableTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 6)
        partitions, at = _read_reassignable_partitions_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReassignableTopic(name, partitions))
    return items, at


def _read_alter_partition_reassignments_request_v0(data: memoryview, at: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_reassignable_topics_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterPartitionReassignmentsRequest(timeout_ms, True, topics), at


def _read_alter_partition_reassignments_request_v1(data: memoryview, at: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
    timeout_ms, allow_replication_factor_change = _unpack_it(data, at)
    at += 5
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_reassignable_topics_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterPartitionReassignmentsRequest(timeout_ms, allow_replication_factor_change, topics), at


def _write_reassignable_partitions_v0(items: Sequence[ReassignablePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.partition_index)
        if item.replicas:
            out += uvarint(len(item.replicas) + 1)
            write_numbers(item.replicas, "i", out)
        else:
            out.append(0 if item.replicas is None else 1)
        out.append(0)


def _write_reassignable_topics_v0(items: Sequence[ReassignableTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_reassignable_partitions_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_partition_reassignments_request_v0(item: AlterPartitionReassignmentsRequest, out: bytearray) -> None:
    if not item.allow_replication_factor_change:
        refuse_field("AlterPartitionReassignmentsRequest.allow_replication_factor_change")
    out += _pack_i(item.timeout_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_reassignable_topics_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_alter_partition_reassignments_request_v1(item: AlterPartitionReassignmentsRequest, out: bytearray) -> None:
    out += _pack_it(item.timeout_ms, item.allow_replication_factor_change)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_reassignable_topics_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


AlterPartitionReassignmentsRequest.DECODERS = {
    0: _read_alter_partition_reassignments_request_v0,
    1: _read_alter_partition_reassignments_request_v1,
}
AlterPartitionReassignmentsRequest.ENCODERS = {
    0: _write_alter_partition_reassignments_request_v0,
    1: _write_alter_partition_reassignments_request_v1,
}
