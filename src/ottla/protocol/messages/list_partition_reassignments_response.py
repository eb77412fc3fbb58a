"""Generated from schemas/list_partition_reassignments.schema: ListPartitionReassignmentsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

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

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class ListPartitionReassignmentsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "topics",)
    API_KEY = 46
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[OngoingTopicReassignment] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics


class OngoingPartitionReassignment(Struct):
    __slots__ = ("partition_index", "replicas", "adding_replicas", "removing_replicas",)

    def __init__(
        self,
        partition_index: int = 0,
        replicas: Sequence[int] = (),
        adding_replicas: Sequence[int] = (),
        removing_replicas: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.adding_replicas = adding_replicas
        self.removing_replicas = removing_replicas


class OngoingTopicReassignment(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OngoingPartitionReassignment] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_ongoing_partition_reassignments_v0(data: memoryview, at: int, count: int) -> tuple[list[OngoingPartitionReassignment], int]:
    items: list[OngoingPartitionReassignment] = []
    for _ in range(count):
        (partition_index,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_count(data, at, 4)
        replicas, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_compact_count(data, at, 4)
        adding_replicas, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_compact_count(data, at, 4)
        removing_replicas, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OngoingPartitionReassignment(partition_index, replicas, adding_replicas, removing_replicas))
    return items, at


def _read_ongoing_topic_reassignments_v0(data: memoryview, at: int, count: int) -> tuple[list[OngoingTopicReassignment], int]:
    items: list[OngoingTopicReassignment] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 8)
        partitions, at = _read_ongoing_partition_reassignments_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OngoingTopicReassignment(name, partitions))
    return items, at


def _read_list_partition_reassignments_response_v0(data: memoryview, at: int) -> tuple[ListPartitionReassignmentsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_ongoing_topic_reassignments_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListPartitionReassignmentsResponse(throttle_time_ms, error_code, error_message, topics), at


def _write_ongoing_partition_reassignments_v0(items: Sequence[OngoingPartitionReassignment], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.partition_index)
        if item.replicas:
            out += uvarint(len(item.replicas) + 1)
            write_numbers(item.replicas, "i", out)
        else:
            out.append(1)
        if item.adding_replicas:
            out += uvarint(len(item.adding_replicas) + 1)
            write_numbers(item.adding_replicas, "i", out)
        else:
            out.append(1)
        if item.removing_replicas:
            out += uvarint(len(item.removing_replicas) + 1)
            write_numbers(item.removing_replicas, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_ongoing_topic_reassignments_v0(items: Sequence[OngoingTopicReassignment], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_ongoing_partition_reassignments_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_list_partition_reassignments_response_v0(item: ListPartitionReassignmentsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_ongoing_topic_reassignments_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


ListPartitionReassignmentsResponse.DECODERS = {
    0: _read_list_partition_reassignments_response_v0,
}
ListPartitionReassignmentsResponse.ENCODERS = {
    0: _write_list_partition_reassignments_response_v0,
}
