"""Generated from schemas/list_partition_reassignments.schema: ListPartitionReassignmentsRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
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


class ListPartitionReassignmentsRequest(Message):
    __slots__ = ("timeout_ms", "topics",)
    API_KEY = 46
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: Sequence[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics


class ListPartitionReassignmentsTopics(Struct):
    __slots__ = ("name", "partition_indexes",)

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


def _read_list_partition_reassignments_topicss_v0(data: memoryview, at: int, count: int) -> tuple[list[ListPartitionReassignmentsTopics], int]:
    items: list[ListPartitionReassignmentsTopics] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partition_indexes, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ListPartitionReassignmentsTopics(name, partition_indexes))
    return items, at


def _read_list_partition_reassignments_request_v0(data: memoryview, at: int) -> tuple[ListPartitionReassignmentsRequest, int]:
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_nullable_count(data, at, 3)
    topics: list[ListPartitionReassignmentsTopics] | None = None
    if count >= 0:
        topics, at = _read_list_partition_reassignments_topicss_v0(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListPartitionReassignmentsRequest(timeout_ms, topics), at


def _write_list_partition_reassignments_topicss_v0(items: Sequence[ListPartitionReassignmentsTopics], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_indexes:
            out += uvarint(len(item.partition_indexes) + 1)
            write_numbers(item.partition_indexes, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_list_partition_reassignments_request_v0(item: ListPartitionReassignmentsRequest, out: bytearray) -> None:
    out += _pack_i(item.timeout_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_list_partition_reassignments_topicss_v0(item.topics, out)
    else:
        out.append(0 if item.topics is None else 1)
    out.append(0)


ListPartitionReassignmentsRequest.DECODERS = {
    0: _read_list_partition_reassignments_request_v0,
}
ListPartitionReassignmentsRequest.ENCODERS = {
    0: _write_list_partition_reassignments_request_v0,
}
