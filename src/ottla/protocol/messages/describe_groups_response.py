"""Generated from schemas/describe_groups.schema: DescribeGroupsResponse, versions 0-6. Do not edit."""

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

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ii = Layout(">ii").pack
_pack_ix = Layout(">ix").pack


class DescribeGroupsResponse(Message):
    __slots__ = ("throttle_time_ms", "groups",)
    API_KEY = 15
    VERSIONS = range(0, 7)
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups


class DescribedGroupMember(Struct):
    __slots__ = ("member_id", "group_instance_id", "client_id", "client_host", "member_metadata", "member_assignment",)

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment


class DescribedGroup(Struct):
    __slots__ = ("error_code", "error_message", "group_id", "group_state", "protocol_type", "protocol_data", "members", "authorized_operations",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: Sequence[DescribedGroupMember] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = members
        self.authorized_operations = authorized_operations


def _read_described_group_members_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroupMember], int]:
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        client_id, at = read_string(data, at)
        client_host, at = read_string(data, at)
        member_metadata, at = read_bytes(data, at)
        member_assignment, at = read_bytes(data, at)
        items.append(DescribedGroupMember(member_id, None, client_id, client_host, member_metadata, member_assignment))
    return items, at


def _read_described_groups_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        group_id, at = read_string(data, at)
        group_state, at = read_string(data, at)
        protocol_type, at = read_string(data, at)
        protocol_data, at = read_string(data, at)
        count, at = read_count(data, at, 14)
        members, at = _read_described_group_members_v0(data, at, count) if count else ([], at)
        items.append(DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, -2147483648))
    return items, at


def _read_describe_groups_response_v0(data: memoryview, at: int) -> tuple[DescribeGroupsResponse, int]:
    count, at = read_count(data, at, 14)
    groups, at = _read_described_groups_v0(data, at, count) if count else ([], at)
    return DescribeGroupsResponse(0, groups), at


def _read_describe_groups_response_v1(data: memoryview, at: int) -> tuple[DescribeGroupsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 14)
    groups, at = _read_described_groups_v0(data, at, count) if count else ([], at)
    return DescribeGroupsResponse(throttle_time_ms, groups), at


def _read_described_groups_v3(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        group_id, at = read_string(data, at)
        group_state, at = read_string(data, at)
        protocol_type, at = read_string(data, at)
        protocol_data, at = read_string(data, at)
        count, at = read_count(data, at, 14)
        members, at = _read_described_group_members_v0(data, at, count) if count else ([], at)
        (authorized_operations,) = _unpack_i(data, at)
        at += 4
        items.append(DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations))
    return items, at


def _read_describe_groups_response_v3(data: memoryview, at: int) -> tuple[DescribeGroupsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 18)
    groups, at = _read_described_groups_v3(data, at, count) if count else ([], at)
    return DescribeGroupsResponse(throttle_time_ms, groups), at


def _read_described_group_members_v4(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroupMember], int]:
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        group_instance_id, at = read_nullable_string(data, at)
        client_id, at = read_string(data, at)
        client_host, at = read_string(data, at)
        member_metadata, at = read_bytes(data, at)
        member_assignment, at = read_bytes(data, at)
        items.append(DescribedGroupMember(member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment))
    return items, at


def _read_described_groups_v4(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        group_id, at = read_string(data, at)
        group_state, at = read_string(data, at)
        protocol_type, at = read_string(data, at)
        protocol_data, at = read_string(data, at)
        count, at = read_count(data, at, 16)
        members, at = _read_described_group_members_v4(data, at, count) if count else ([], at)
        (authorized_operations,) = _unpack_i(data, at)
        at += 4
        items.append(DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations))
    return items, at


def _read_describe_groups_response_v4(data: memoryview, at: int) -> tuple[DescribeGroupsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 18)
    groups, at = _read_described_groups_v4(data, at, count) if count else ([], at)
    return DescribeGroupsResponse(throttle_time_ms, groups), at


def _read_described_group_members_v5(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroupMember], int]:
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        group_instance_id: str | None = None
        if data[at]:
            group_instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        client_id, at = read_compact_string(data, at)
        client_host, at = read_compact_string(data, at)
        member_metadata, at = read_compact_bytes(data, at)
        member_assignment, at = read_compact_bytes(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribedGroupMember(member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment))
    return items, at


def _read_described_groups_v5(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        group_id, at = read_compact_string(data, at)
        group_state, at = read_compact_string(data, at)
        protocol_type, at = read_compact_string(data, at)
        protocol_data, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 7)
        members, at = _read_described_group_members_v5(data, at, count) if count else ([], at)
        authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations))
    return items, at


def _read_describe_groups_response_v5(data: memoryview, at: int) -> tuple[DescribeGroupsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 12)
    groups, at = _read_described_groups_v5(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeGroupsResponse(throttle_time_ms, groups), at


def _read_described_groups_v6(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        group_id, at = read_compact_string(data, at)
        group_state, at = read_compact_string(data, at)
        protocol_type, at = read_compact_string(data, at)
        protocol_data, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 7)
        members, at = _read_described_group_members_v5(data, at, count) if count else ([], at)
        authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribedGroup(error_code, error_message, group_id, group_state, protocol_type, protocol_data, members, authorized_operations))
    return items, at


def _read_describe_groups_response_v6(data: memoryview, at: int) -> tuple[DescribeGroupsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 13)
    groups, at = _read_described_groups_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeGroupsResponse(throttle_time_ms, groups), at


def _write_described_group_members_v0(items: Sequence[DescribedGroupMember], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_string(item.client_id, out)
        write_string(item.client_host, out)
        write_bytes(item.member_metadata, out)
        write_bytes(item.member_assignment, out)


def _write_described_groups_v0(items: Sequence[DescribedGroup], out: bytearray) -> None:
    for item in items:
        if item.error_message is not None:
            refuse_field("DescribedGroup.error_message")
        if item.authorized_operations != -2147483648:
            refuse_field("DescribedGroup.authorized_operations")
        out += _pack_h(item.error_code)
        write_string(item.group_id, out)
        write_string(item.group_state, out)
        write_string(item.protocol_type, out)
        write_string(item.protocol_data, out)
        out += _pack_i(len(item.members))
        if item.members:
            _write_described_group_members_v0(item.members, out)


def _write_describe_groups_response_v0(item: DescribeGroupsResponse, out: bytearray) -> None:
    out += _pack_i(len(item.groups))
    if item.groups:
        _write_described_groups_v0(item.groups, out)


def _write_describe_groups_response_v1(item: DescribeGroupsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.groups))
    if item.groups:
        _write_described_groups_v0(item.groups, out)


def _write_described_groups_v3(items: Sequence[DescribedGroup], out: bytearray) -> None:
    for item in items:
        if item.error_message is not None:
            refuse_field("DescribedGroup.error_message")
        out += _pack_h(item.error_code)
        write_string(item.group_id, out)
        write_string(item.group_state, out)
        write_string(item.protocol_type, out)
        write_string(item.protocol_data, out)
        out += _pack_i(len(item.members))
        if item.members:
            _write_described_group_members_v0(item.members, out)
        out += _pack_i(item.authorized_operations)


def _write_describe_groups_response_v3(item: DescribeGroupsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.groups))
    if item.groups:
        _write_described_groups_v3(item.groups, out)


def _write_described_group_members_v4(items: Sequence[DescribedGroupMember], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_nullable_string(item.group_instance_id, out)
        write_string(item.client_id, out)
        write_string(item.client_host, out)
        write_bytes(item.member_metadata, out)
        write_bytes(item.member_assignment, out)


def _write_described_groups_v4(items: Sequence[DescribedGroup], out: bytearray) -> None:
    for item in items:
        if item.error_message is not None:
            refuse_field("DescribedGroup.error_message")
        out += _pack_h(item.error_code)
        write_string(item.group_id, out)
        write_string(item.group_state, out)
        write_string(item.protocol_type, out)
        write_string(item.protocol_data, out)
        out += _pack_i(len(item.members))
        if item.members:
            _write_described_group_members_v4(item.members, out)
        out += _pack_i(item.authorized_operations)


def _write_describe_groups_response_v4(item: DescribeGroupsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.groups))
    if item.groups:
        _write_described_groups_v4(item.groups, out)


def _write_described_group_members_v5(items: Sequence[DescribedGroupMember], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.group_instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.group_instance_id, out)
        write_compact_string(item.client_id, out)
        write_compact_string(item.client_host, out)
        write_compact_bytes(item.member_metadata, out)
        write_compact_bytes(item.member_assignment, out)
        out.append(0)


def _write_described_groups_v5(items: Sequence[DescribedGroup], out: bytearray) -> None:
    for item in items:
        if item.error_message is not None:
            refuse_field("DescribedGroup.error_message")
        out += _pack_h(item.error_code)
        write_compact_string(item.group_id, out)
        write_compact_string(item.group_state, out)
        write_compact_string(item.protocol_type, out)
        write_compact_string(item.protocol_data, out)
        if item.members:
            out += uvarint(len(item.members) + 1)
            _write_described_group_members_v5(item.members, out)
        else:
            out.append(1)
        out += _pack_ix(item.authorized_operations)


def _write_describe_groups_response_v5(item: DescribeGroupsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_described_groups_v5(item.groups, out)
    else:
        out.append(1)
    out.append(0)


def _write_described_groups_v6(items: Sequence[DescribedGroup], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        write_compact_string(item.group_id, out)
        write_compact_string(item.group_state, out)
        write_compact_string(item.protocol_type, out)
        write_compact_string(item.protocol_data, out)
        if item.members:
            out += uvarint(len(item.members) + 1)
            _write_described_group_members_v5(item.members, out)
        else:
            out.append(1)
        out += _pack_ix(item.authorized_operations)


def _write_describe_groups_response_v6(item: DescribeGroupsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_described_groups_v6(item.groups, out)
    else:
        out.append(1)
    out.append(0)


DescribeGroupsResponse.DECODERS = {
    0: _read_describe_groups_response_v0,
    1: _read_describe_groups_response_v1,
    2: _read_describe_groups_response_v1,
    3: _read_describe_groups_response_v3,
    4: _read_describe_groups_response_v4,
    5: _read_describe_groups_response_v5,
    6: _read_describe_groups_response_v6,
}
DescribeGroupsResponse.ENCODERS = {
    0: _write_describe_groups_response_v0,
    1: _write_describe_groups_response_v1,
    2: _write_describe_groups_response_v1,
    3: _write_describe_groups_response_v3,
    4: _write_describe_groups_response_v4,
    5: _write_describe_groups_response_v5,
    6: _write_describe_groups_response_v6,
}
