"""Generated from schemas/alter_partition_reassignments.schema: AlterPartitionReassignmentsResponse, versions 0-1. Do not edit."""

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

_unpack_ith = Layout(">i?h").unpack_from
_pack_ith = Layout(">i?h").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class AlterPartitionReassignmentsResponse(Message):
    __slots__ = ("throttle_time_ms", "allow_replication_factor_change", "error_code", "error_message", "responses",)
    API_KEY = 45
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: Sequence[ReassignableTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses


class ReassignablePartitionResponse(Struct):
    __slots__ = ("partition_index", "error_code", "error_message",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class ReassignableTopicResponse(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ReassignablePartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_reassignable_partition_responses_v0(data: memoryview, at: int, count: int) -> tuple[list[ReassignablePartitionResponse], int]:
    items: list[ReassignablePartitionResponse] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReassignablePartitionResponse(partition_index, error_code, error_message))
    return items, at


def _read_reassignable_topic_responses_v0(data: memoryview, at: int, count: int) -> tuple[list[ReassignableTopicResponse], int]:
    items: list[ReassignableTopicResponse] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 8)
        partitions, at = _read_reassignable_partition_responses_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReassignableTopicResponse(name, partitions))
    return items, at


def _read_alter_partition_reassignments_response_v0(data: memoryview, at: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    responses, at = _read_reassignable_topic_responses_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterPartitionReassignmentsResponse(throttle_time_ms, True, error_code, error_message, responses), at


def _read_alter_partition_reassignments_response_v1(data: memoryview, at: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
    throttle_time_ms, allow_replication_factor_change, error_code = _unpack_ith(data, at)
    at += 7
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    responses, at = _read_reassignable_topic_responses_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterPartitionReassignmentsResponse(throttle_time_ms, allow_replication_factor_change, error_code, error_message, responses), at


def _write_reassignable_partition_responses_v0(items: Sequence[ReassignablePartitionResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_reassignable_topic_responses_v0(items: Sequence[ReassignableTopicResponse], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_reassignable_partition_responses_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_partition_reassignments_response_v0(item: AlterPartitionReassignmentsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_reassignable_topic_responses_v0(item.responses, out)
    else:
        out.append(1)
    out.append(0)


def _write_alter_partition_reassignments_response_v1(item: AlterPartitionReassignmentsResponse, out: bytearray) -> None:
    out += _pack_ith(item.throttle_time_ms, item.allow_replication_factor_change, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_reassignable_topic_responses_v0(item.responses, out)
    else:
        out.append(1)
    out.append(0)


AlterPartitionReassignmentsResponse.DECODERS = {
    0: _read_alter_partition_reassignments_response_v0,
    1: _read_alter_partition_reassignments_response_v1,
}
AlterPartitionReassignmentsResponse.ENCODERS = {
    0: _write_alter_partition_reassignments_response_v0,
    1: _write_alter_partition_reassignments_response_v1,
}
