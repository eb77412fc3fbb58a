"""Generated from schemas/leave_group.schema: LeaveGroupResponse, versions 0-5. Do not edit."""

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

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hB = Layout(">hB").unpack_from
_pack_hx = Layout(">hx").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ihi = Layout(">ihi").pack


class LeaveGroupResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "members",)
    API_KEY = 13
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: Sequence[MemberResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = members


class MemberResponse(Struct):
    __slots__ = ("member_id", "group_instance_id", "error_code",)

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code


def _read_leave_group_response_v0(data: memoryview, at: int) -> tuple[LeaveGroupResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    return LeaveGroupResponse(0, error_code, ()), at


def _read_leave_group_response_v1(data: memoryview, at: int) -> tuple[LeaveGroupResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    return LeaveGroupResponse(throttle_time_ms, error_code, ()), at


def _read_member_responses_v3(data: memoryview, at: int, count: int) -> tuple[list[MemberResponse], int]:
    items: list[MemberResponse] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        group_instance_id, at = read_nullable_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        items.append(MemberResponse(member_id, group_instance_id, error_code))
    return items, at


def _read_leave_group_response_v3(data: memoryview, at: int) -> tuple[LeaveGroupResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_count(data, at, 6)
    members, at = _read_member_responses_v3(data, at, count) if count else ([], at)
    return LeaveGroupResponse(throttle_time_ms, error_code, members), at


def _read_member_responses_v4(data: memoryview, at: int, count: int) -> tuple[list[MemberResponse], int]:
    items: list[MemberResponse] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        group_instance_id: str | None = None
        if data[at]:
            group_instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        error_code, more = _unpack_hB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(MemberResponse(member_id, group_instance_id, error_code))
    return items, at


def _read_leave_group_response_v4(data: memoryview, at: int) -> tuple[LeaveGroupResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 5)
    members, at = _read_member_responses_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return LeaveGroupResponse(throttle_time_ms, error_code, members), at


def _write_leave_group_response_v0(item: LeaveGroupResponse, out: bytearray) -> None:
    if item.members:
        refuse_field("LeaveGroupResponse.members")
    out += _pack_h(item.error_code)


def _write_leave_group_response_v1(item: LeaveGroupResponse, out: bytearray) -> None:
    if item.members:
        refuse_field("LeaveGroupResponse.members")
    out += _pack_ih(item.throttle_time_ms, item.error_code)


def _write_member_responses_v3(items: Sequence[MemberResponse], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_nullable_string(item.group_instance_id, out)
        out += _pack_h(item.error_code)


def _write_leave_group_response_v3(item: LeaveGroupResponse, out: bytearray) -> None:
    out += _pack_ihi(item.throttle_time_ms, item.error_code, len(item.members))
    if item.members:
        _write_member_responses_v3(item.members, out)


def _write_member_responses_v4(items: Sequence[MemberResponse], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.group_instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.group_instance_id, out)
        out += _pack_hx(item.error_code)


def _write_leave_group_response_v4(item: LeaveGroupResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.members:
        out += uvarint(len(item.members) + 1)
        _write_member_responses_v4(item.members, out)
    else:
        out.append(1)
    out.append(0)


LeaveGroupResponse.DECODERS = {
    0: _read_leave_group_response_v0,
    1: _read_leave_group_response_v1,
    2: _read_leave_group_response_v1,
    3: _read_leave_group_response_v3,
    4: _read_leave_group_response_v4,
    5: _read_leave_group_response_v4,
}
LeaveGroupResponse.ENCODERS = {
    0: _write_leave_group_response_v0,
    1: _write_leave_group_response_v1,
    2: _write_leave_group_response_v1,
    3: _write_leave_group_response_v3,
    4: _write_leave_group_response_v4,
    5: _write_leave_group_response_v4,
}
