"""Generated from schemas/sync_group.schema: SyncGroupRequest, versions 0-5. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_bytes,
    write_compact_bytes,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class SyncGroupRequest(Message):
    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id", "protocol_type", "protocol_name", "assignments",)
    API_KEY = 14
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: Sequence[SyncGroupRequestAssignment] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = assignments


class SyncGroupRequestAssignment(Struct):
    __slots__ = ("member_id", "assignment",)

    def __init__(
        self,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment


def _read_sync_group_request_assignments_v0(data: memoryview, at: int, count: int) -> tuple[list[SyncGroupRequestAssignment], int]:
    items: list[SyncGroupRequestAssignment] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        assignment, at = read_bytes(data, at)
        items.append(SyncGroupRequestAssignment(member_id, assignment))
    return items, at


def _read_sync_group_request_v0(data: memoryview, at: int) -> tuple[SyncGroupRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    assignments, at = _read_sync_group_request_assignments_v0(data, at, count) if count else ([], at)
    return SyncGroupRequest(group_id, generation_id, member_id, None, None, None, assignments), at


def _read_sync_group_request_v3(data: memoryview, at: int) -> tuple[SyncGroupRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    group_instance_id, at = read_nullable_string(data, at)
    count, at = read_count(data, at, 6)
    assignments, at = _read_sync_group_request_assignments_v0(data, at, count) if count else ([], at)
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments), at


def _read_sync_group_request_assignments_v4(data: memoryview, at: int, count: int) -> tuple[list[SyncGroupRequestAssignment], int]:
    items: list[SyncGroupRequestAssignment] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        assignment, at = read_compact_bytes(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(SyncGroupRequestAssignment(member_id, assignment))
    return items, at


def _read_sync_group_request_v4(data: memoryview, at: int) -> tuple[SyncGroupRequest, int]:
    group_id, at = read_compact_string(data, at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    assignments, at = _read_sync_group_request_assignments_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments), at


def _read_sync_group_request_v5(data: memoryview, at: int) -> tuple[SyncGroupRequest, int]:
    group_id, at = read_compact_string(data, at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    protocol_type: str | None = None
    if data[at]:
        protocol_type, at = read_compact_string(data, at)
    else:
        at += 1
    protocol_name: str | None = None
    if data[at]:
        protocol_name, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    assignments, at = _read_sync_group_request_assignments_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, protocol_type, protocol_name, assignments), at


def _write_sync_group_request_assignments_v0(items: Sequence[SyncGroupRequestAssignment], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_bytes(item.assignment, out)


def _write_sync_group_request_v0(item: SyncGroupRequest, out: bytearray) -> None:
    if item.group_instance_id is not None:
        refuse_field("SyncGroupRequest.group_instance_id")
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id)
    write_string(item.member_id, out)
    out += _pack_i(len(item.assignments))
    if item.assignments:
        _write_sync_group_request_assignments_v0(item.assignments, out)


def _write_sync_group_request_v3(item: SyncGroupRequest, out: bytearray) -> None:
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id)
    write_string(item.member_id, out)
    write_nullable_string(item.group_instance_id, out)
    out += _pack_i(len(item.assignments))
    if item.assignments:
        _write_sync_group_request_assignments_v0(item.assignments, out)


def _write_sync_group_request_assignments_v4(items: Sequence[SyncGroupRequestAssignment], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        write_compact_bytes(item.assignment, out)
        out.append(0)


def _write_sync_group_request_v4(item: SyncGroupRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    out += _pack_i(item.generation_id)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    if item.assignments:
        out += uvarint(len(item.assignments) + 1)
        _write_sync_group_request_assignments_v4(item.assignments, out)
    else:
        out.append(1)
    out.append(0)


def _write_sync_group_request_v5(item: SyncGroupRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    out += _pack_i(item.generation_id)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    if item.protocol_type is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_type, out)
    if item.protocol_name is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_name, out)
    if item.assignments:
        out += uvarint(len(item.assignments) + 1)
        _write_sync_group_request_assignments_v4(item.assignments, out)
    else:
        out.append(1)
    out.append(0)


SyncGroupRequest.DECODERS = {
    0: _read_sync_group_request_v0,
    1: _read_sync_group_request_v0,
    2: _read_sync_group_request_v0,
    3: _read_sync_group_request_v3,
    4: _read_sync_group_request_v4,
    5: _read_sync_group_request_v5,
}
SyncGroupRequest.ENCODERS = {
    0: _write_sync_group_request_v0,
    1: _write_sync_group_request_v0,
    2: _write_sync_group_request_v0,
    3: _write_sync_group_request_v3,
    4: _write_sync_group_request_v4,
    5: _write_sync_group_request_v5,
}
