"""Generated from schemas/leave_group.schema: LeaveGroupRequest, versions 0-5. Do not edit."""

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


class LeaveGroupRequest(Message):
    __slots__ = ("group_id", "member_id", "members",)
    API_KEY = 13
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        members: Sequence[MemberIdentity] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = members


class MemberIdentity(Struct):
    __slots__ = ("member_id", "group_instance_id", "reason",)

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason


def _read_leave_group_request_v0(data: memoryview, at: int) -> tuple[LeaveGroupRequest, int]:
    group_id, at = read_string(data, at)
    member_id, at = read_string(data, at)
    return LeaveGroupRequest(group_id, member_id, ()), at


def _read_member_identitys_v3(data: memoryview, at: int, count: int) -> tuple[list[MemberIdentity], int]:
    items: list[MemberIdentity] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        group_instance_id, at = read_nullable_string(data, at)
        items.append(MemberIdentity(member_id, group_instance_id, None))
    return items, at


def _read_leave_group_request_v3(data: memoryview, at: int) -> tuple[LeaveGroupRequest, int]:
    group_id, at = read_string(data, at)
    count, at = read_count(data, at, 4)
    members, at = _read_member_identitys_v3(data, at, count) if count else ([], at)
    return LeaveGroupRequest(group_id, "", members), at


def _read_member_identitys_v4(data: memoryview, at: int, count: int) -> tuple[list[MemberIdentity], int]:
    items: list[MemberIdentity] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        group_instance_id: str | None = None
        if data[at]:
            group_instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(MemberIdentity(member_id, group_instance_id, None))
    return items, at


def _read_leave_group_request_v4(data: memoryview, at: int) -> tuple[LeaveGroupRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 3)
    members, at = _read_member_identitys_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return LeaveGroupRequest(group_id, "", members), at


def _read_member_identitys_v5(data: memoryview, at: int, count: int) -> tuple[list[MemberIdentity], int]:
    items: list[MemberIdentity] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        group_instance_id: str | None = None
        if data[at]:
            group_instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        reason: str | None = None
        if data[at]:
            reason, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(MemberIdentity(member_id, group_instance_id, reason))
    return items, at


def _read_leave_group_request_v5(data: memoryview, at: int) -> tuple[LeaveGroupRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 4)
    members, at = _read_member_identitys_v5(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return LeaveGroupRequest(group_id, "", members), at


def _write_leave_group_request_v0(item: LeaveGroupRequest, out: bytearray) -> None:
    if item.members:
        refuse_field("LeaveGroupRequest.members")
    write_string(item.group_id, out)
    write_string(item.member_id, out)


def _write_member_identitys_v3(items: Sequence[MemberIdentity], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_nullable_string(item.group_instance_id, out)


def _write_leave_group_request_v3(item: LeaveGroupRequest, out: bytearray) -> None:
    if item.member_id != "":
        refuse_field("LeaveGroupRequest.member_id")
    write_string(item.group_id, out)
    out += _pack_i(len(item.members))
    if item.members:
        _write_member_identitys_v3(item.members, out)


def _write_member_identitys_v4(items: Sequence[MemberIdentity], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.group_instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.group_instance_id, out)
        out.append(0)


def _write_leave_group_request_v4(item: LeaveGroupRequest, out: bytearray) -> None:
    if item.member_id != "":
        refuse_field("LeaveGroupRequest.member_id")
    write_compact_string(item.group_id, out)
    if item.members:
        out += uvarint(len(item.members) + 1)
        _write_member_identitys_v4(item.members, out)
    else:
        out.append(1)
    out.append(0)


def _write_member_identitys_v5(items: Sequence[MemberIdentity], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.group_instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.group_instance_id, out)
        if item.reason is None:
            out.append(0)
        else:
            write_compact_string(item.reason, out)
        out.append(0)


def _write_leave_group_request_v5(item: LeaveGroupRequest, out: bytearray) -> None:
    if item.member_id != "":
        refuse_field("LeaveGroupRequest.member_id")
    write_compact_string(item.group_id, out)
    if item.members:
        out += uvarint(len(item.members) + 1)
        _write_member_identitys_v5(item.members, out)
    else:
        out.append(1)
    out.append(0)


LeaveGroupRequest.DECODERS = {
    0: _read_leave_group_request_v0,
    1: _read_leave_group_request_v0,
    2: _read_leave_group_request_v0,
    3: _read_leave_group_request_v3,
    4: _read_leave_group_request_v4,
    5: _read_leave_group_request_v5,
}
LeaveGroupRequest.ENCODERS = {
    0: _write_leave_group_request_v0,
    1: _write_leave_group_request_v0,
    2: _write_leave_group_request_v0,
    3: _write_leave_group_request_v3,
    4: _write_leave_group_request_v4,
    5: _write_leave_group_request_v5,
}
