"""Generated from schemas/join_group.schema: JoinGroupResponse, versions 0-9. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field, refuse_null_field
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

_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_unpack_hi = Layout(">hi").unpack_from
_pack_hi = Layout(">hi").pack
_pack_i = Layout(">i").pack
_unpack_ihi = Layout(">ihi").unpack_from
_pack_ihi = Layout(">ihi").pack


class JoinGroupResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "generation_id", "protocol_type", "protocol_name", "leader", "skip_assignment", "member_id", "members",)
    API_KEY = 11
    VERSIONS = range(0, 10)
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: Sequence[JoinGroupResponseMember] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = members


class JoinGroupResponseMember(Struct):
    __slots__ = ("member_id", "group_instance_id", "metadata",)

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata


def _read_join_group_response_members_v0(data: memoryview, at: int, count: int) -> tuple[list[JoinGroupResponseMember], int]:
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        metadata, at = read_bytes(data, at)
        items.append(JoinGroupResponseMember(member_id, None, metadata))
    return items, at


def _read_join_group_response_v0(data: memoryview, at: int) -> tuple[JoinGroupResponse, int]:
    error_code, generation_id = _unpack_hi(data, at)
    at += 6
    protocol_name, at = read_string(data, at)
    leader, at = read_string(data, at)
    member_id, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    members, at = _read_join_group_response_members_v0(data, at, count) if count else ([], at)
    return JoinGroupResponse(0, error_code, generation_id, None, protocol_name, leader, False, member_id, members), at


def _read_join_group_response_v2(data: memoryview, at: int) -> tuple[JoinGroupResponse, int]:
    throttle_time_ms, error_code, generation_id = _unpack_ihi(data, at)
    at += 10
    protocol_name, at = read_string(data, at)
    leader, at = read_string(data, at)
    member_id, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    members, at = _read_join_group_response_members_v0(data, at, count) if count else ([], at)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members), at


def _read_join_group_response_members_v5(data: memoryview, at: int, count: int) -> tuple[list[JoinGroupResponseMember], int]:
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        group_instance_id, at = read_nullable_string(data, at)
        metadata, at = read_bytes(data, at)
        items.append(JoinGroupResponseMember(member_id, group_instance_id, metadata))
    return items, at


def _read_join_group_response_v5(data: memoryview, at: int) -> tuple[JoinGroupResponse, int]:
    throttle_time_ms, error_code, generation_id = _unpack_ihi(data, at)
    at += 10
    protocol_name, at = read_string(data, at)
    leader, at = read_string(data, at)
    member_id, at = read_string(data, at)
    count, at = read_count(data, at, 8)
    members, at = _read_join_group_response_members_v5(data, at, count) if count else ([], at)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members), at


def _read_join_group_response_members_v6(data: memoryview, at: int, count: int) -> tuple[list[JoinGroupResponseMember], int]:
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        group_instance_id: str | None = None
        if data[at]:
            group_instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        metadata, at = read_compact_bytes(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(JoinGroupResponseMember(member_id, group_instance_id, metadata))
    return items, at


def _read_join_group_response_v6(data: memoryview, at: int) -> tuple[JoinGroupResponse, int]:
    throttle_time_ms, error_code, generation_id = _unpack_ihi(data, at)
    at += 10
    protocol_name, at = read_compact_string(data, at)
    leader, at = read_compact_string(data, at)
    member_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 4)
    members, at = _read_join_group_response_members_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members), at


def _read_join_group_response_v7(data: memoryview, at: int) -> tuple[JoinGroupResponse, int]:
    throttle_time_ms, error_code, generation_id = _unpack_ihi(data, at)
    at += 10
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
    leader, at = read_compact_string(data, at)
    member_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 4)
    members, at = _read_join_group_response_members_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, False, member_id, members), at


def _read_join_group_response_v9(data: memoryview, at: int) -> tuple[JoinGroupResponse, int]:
    throttle_time_ms, error_code, generation_id = _unpack_ihi(data, at)
    at += 10
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
    leader, at = read_compact_string(data, at)
    (skip_assignment,) = _unpack_t(data, at)
    at += 1
    member_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 4)
    members, at = _read_join_group_response_members_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, skip_assignment, member_id, members), at


def _write_join_group_response_members_v0(items: Sequence[JoinGroupResponseMember], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_bytes(item.metadata, out)


def _write_join_group_response_v0(item: JoinGroupResponse, out: bytearray) -> None:
    if item.skip_assignment:
        refuse_field("JoinGroupResponse.skip_assignment")
    out += _pack_hi(item.error_code, item.generation_id)
    if item.protocol_name is None:
        refuse_null_field("JoinGroupResponse.protocol_name")
    write_string(item.protocol_name, out)
    write_string(item.leader, out)
    write_string(item.member_id, out)
    out += _pack_i(len(item.members))
    if item.members:
        _write_join_group_response_members_v0(item.members, out)


def _write_join_group_response_v2(item: JoinGroupResponse, out: bytearray) -> None:
    if item.skip_assignment:
        refuse_field("JoinGroupResponse.skip_assignment")
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.generation_id)
    if item.protocol_name is None:
        refuse_null_field("JoinGroupResponse.protocol_name")
    write_string(item.protocol_name, out)
    write_string(item.leader, out)
    write_string(item.member_id, out)
    out += _pack_i(len(item.members))
    if item.members:
        _write_join_group_response_members_v0(item.members, out)


def _write_join_group_response_members_v5(items: Sequence[JoinGroupResponseMember], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_nullable_string(item.group_instance_id, out)
        write_bytes(item.metadata, out)


def _write_join_group_response_v5(item: JoinGroupResponse, out: bytearray) -> None:
    if item.skip_assignment:
        refuse_field("JoinGroupResponse.skip_assignment")
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.generation_id)
    if item.protocol_name is None:
        refuse_null_field("JoinGroupResponse.protocol_name")
    write_string(item.protocol_name, out)
    write_string(item.leader, out)
    write_string(item.member_id, out)
    out += _pack_i(len(item.members))
    if item.members:
        _write_join_group_response_members_v5(item.members, out)


def _write_join_group_response_members_v6(items: Sequence[JoinGroupResponseMember], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.group_instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.group_instance_id, out)
        write_compact_bytes(item.metadata, out)
        out.append(0)


def _write_join_group_response_v6(item: JoinGroupResponse, out: bytearray) -> None:
    if item.skip_assignment:
        refuse_field("JoinGroupResponse.skip_assignment")
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.generation_id)
    if item.protocol_name is None:
        refuse_null_field("JoinGroupResponse.protocol_name")
    write_compact_string(item.protocol_name, out)
    write_compact_string(item.leader, out)
    write_compact_string(item.member_id, out)
    if item.members:
        out += uvarint(len(item.members) + 1)
        _write_join_group_response_members_v6(item.members, out)
    else:
        out.append(1)
    out.append(0)


def _write_join_group_response_v7(item: JoinGroupResponse, out: bytearray) -> None:
    if item.skip_assignment:
        refuse_field("JoinGroupResponse.skip_assignment")
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.generation_id)
    if item.protocol_type is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_type, out)
    if item.protocol_name is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_name, out)
    write_compact_string(item.leader, out)
    write_compact_string(item.member_id, out)
    if item.members:
        out += uvarint(len(item.members) + 1)
        _write_join_group_response_members_v6(item.members, out)
    else:
        out.append(1)
    out.append(0)


def _write_join_group_response_v9(item: JoinGroupResponse, out: bytearray) -> None:
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.generation_id)
    if item.protocol_type is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_type, out)
    if item.protocol_name is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_name, out)
    write_compact_string(item.leader, out)
    out += _pack_t(item.skip_assignment)
    write_compact_string(item.member_id, out)
    if item.members:
        out += uvarint(len(item.members) + 1)
        _write_join_group_response_members_v6(item.members, out)
    else:
        out.append(1)
    out.append(0)


JoinGroupResponse.DECODERS = {
    0: _read_join_group_response_v0,
    1: _read_join_group_response_v0,
    2: _read_join_group_response_v2,
    3: _read_join_group_response_v2,
    4: _read_join_group_response_v2,
    5: _read_join_group_response_v5,
    6: _read_join_group_response_v6,
    7: _read_join_group_response_v7,
    8: _read_join_group_response_v7,
    9: _read_join_group_response_v9,
}
JoinGroupResponse.ENCODERS = {
    0: _write_join_group_response_v0,
    1: _write_join_group_response_v0,
    2: _write_join_group_response_v2,
    3: _write_join_group_response_v2,
    4: _write_join_group_response_v2,
    5: _write_join_group_response_v5,
    6: _write_join_group_response_v6,
    7: _write_join_group_response_v7,
    8: _write_join_group_response_v7,
    9: _write_join_group_response_v9,
}
