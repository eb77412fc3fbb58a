"""Generated from schemas/create_partitions.schema: CreatePartitionsRequest, versions 0-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_count,
    read_nullable_count,
    read_numbers,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_it = Layout(">i?").unpack_from
_pack_it = Layout(">i?").pack
_unpack_itB = Layout(">i?B").unpack_from
_pack_itx = Layout(">i?x").pack
_pack_ii = Layout(">ii").pack


class CreatePartitionsRequest(Message):
    __slots__ = ("topics", "timeout_ms", "validate_only",)
    API_KEY = 37
    VERSIONS = range(0, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        topics: Sequence[CreatePartitionsTopic] = (),
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


class CreatePartitionsAssignment(Struct):
    __slots__ = ("broker_ids",)

    def __init__(
        self,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.broker_ids = broker_ids


class CreatePartitionsTopic(Struct):
    __slots__ = ("name", "count", "assignments",)

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: Sequence[CreatePartitionsAssignment] | None = (),
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = assignments


def _read_create_partitions_assignments_v0(data: memoryview, at: int, count: int) -> tuple[list[CreatePartitionsAssignment], int]:
    items: list[CreatePartitionsAssignment] = []
    for _ in range(count):
        count, at = read_count(data, at, 4)
        broker_ids, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(CreatePartitionsAssignment(broker_ids))
    return items, at


def _read_create_partitions_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[CreatePartitionsTopic], int]:
    items: list[CreatePartitionsTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        (count_,) = _unpack_i(data, at)
        at += 4
        count, at = read_nullable_count(data, at, 4)
        assignments: list[CreatePartitionsAssignment] | None = None
        if count >= 0:
            assignments, at = _read_create_partitions_assignments_v0(data, at, count)
        items.append(CreatePartitionsTopic(name, count_, assignments))
    return items, at


def _read_create_partitions_request_v0(data: memoryview, at: int) -> tuple[CreatePartitionsRequest, int]:
    count, at = read_count(data, at, 10)
    topics, at = _read_create_partitions_topics_v0(data, at, count) if count else ([], at)
    timeout_ms, validate_only = _unpack_it(data, at)
    at += 5
    return CreatePartitionsRequest(topics, timeout_ms, validate_only), at


def _read_create_partitions_assignments_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatePartitionsAssignment], int]:
    items: list[CreatePartitionsAssignment] = []
    for _ in range(count):
        count, at = read_compact_count(data, at, 4)
        broker_ids, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CreatePartitionsAssignment(broker_ids))
    return items, at


def _read_create_partitions_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatePartitionsTopic], int]:
    items: list[CreatePartitionsTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        (count_,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_nullable_count(data, at, 2)
        assignments: list[CreatePartitionsAssignment] | None = None
        if count >= 0:
            assignments, at = _read_create_partitions_assignments_v2(data, at, count)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CreatePartitionsTopic(name, count_, assignments))
    return items, at


def _read_create_partitions_request_v2(data: memoryview, at: int) -> tuple[CreatePartitionsRequest, int]:
    count, at = read_compact_count(data, at, 7)
    topics, at = _read_create_partitions_topics_v2(data, at, count) if count else ([], at)
    timeout_ms, validate_only, more = _unpack_itB(data, at)
    at += 6
    if more:
        at = skip_tags(data, at - 1)
    return CreatePartitionsRequest(topics, timeout_ms, validate_only), at


def _write_create_partitions_assignments_v0(items: Sequence[CreatePartitionsAssignment], out: bytearray) -> None:
    for item in items:
        out += _pack_i(len(item.broker_ids))
        if item.broker_ids:
            write_numbers(item.broker_ids, "i", out)


def _write_create_partitions_topics_v0(items: Sequence[CreatePartitionsTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_ii(item.count, -1 if item.assignments is None else len(item.assignments))
        if item.assignments:
            _write_create_partitions_assignments_v0(item.assignments, out)


def _write_create_partitions_request_v0(item: CreatePartitionsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_create_partitions_topics_v0(item.topics, out)
    out += _pack_it(item.timeout_ms, item.validate_only)


def _write_create_partitions_assignments_v2(items: Sequence[CreatePartitionsAssignment], out: bytearray) -> None:
    for item in items:
        if item.broker_ids:
            out += uvarint(len(item.broker_ids) + 1)
            write_numbers(item.broker_ids, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_create_partitions_topics_v2(items: Sequence[CreatePartitionsTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_i(item.count)
        if item.assignments:
            out += uvarint(len(item.assignments) + 1)
            _write_create_partitions_assignments_v2(item.assignments, out)
        else:
            out.append(0 if item.assignments is None else 1)
        out.append(0)


def _write_create_partitions_request_v2(item: CreatePartitionsRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_create_partitions_topics_v2(item.topics, out)
    else:
        out.append(1)
    out += _pack_itx(item.timeout_ms, item.validate_only)


CreatePartitionsRequest.DECODERS = {
    0: _read_create_partitions_request_v0,
    1: _read_create_partitions_request_v0,
    2: _read_create_partitions_request_v2,
    3: _read_create_partitions_request_v2,
}
CreatePartitionsRequest.ENCODERS = {
    0: _write_create_partitions_request_v0,
    1: _write_create_partitions_request_v0,
    2: _write_create_partitions_request_v2,
    3: _write_create_partitions_request_v2,
}
