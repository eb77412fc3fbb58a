"""Generated from schemas/list_groups.schema: ListGroupsResponse, versions 0-5. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_hi = Layout(">hi").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ihi = Layout(">ihi").pack


class ListGroupsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "groups",)
    API_KEY = 16
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: Sequence[ListedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = groups


class ListedGroup(Struct):
    __slots__ = ("group_id", "protocol_type", "group_state", "group_type",)

    def __init__(
        self,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type


def _read_listed_groups_v0(data: memoryview, at: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        group_id, at = read_string(data, at)
        protocol_type, at = read_string(data, at)
        items.append(ListedGroup(group_id, protocol_type, "", ""))
    return items, at


def _read_list_groups_response_v0(data: memoryview, at: int) -> tuple[ListGroupsResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_count(data, at, 4)
    groups, at = _read_listed_groups_v0(data, at, count) if count else ([], at)
    return ListGroupsResponse(0, error_code, groups), at


def _read_list_groups_response_v1(data: memoryview, at: int) -> tuple[ListGroupsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_count(data, at, 4)
    groups, at = _read_listed_groups_v0(data, at, count) if count else ([], at)
    return ListGroupsResponse(throttle_time_ms, error_code, groups), at


def _read_listed_groups_v3(data: memoryview, at: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        protocol_type, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ListedGroup(group_id, protocol_type, "", ""))
    return items, at


def _read_list_groups_response_v3(data: memoryview, at: int) -> tuple[ListGroupsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 3)
    groups, at = _read_listed_groups_v3(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListGroupsResponse(throttle_time_ms, error_code, groups), at


def _read_listed_groups_v4(data: memoryview, at: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        protocol_type, at = read_compact_string(data, at)
        group_state, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ListedGroup(group_id, protocol_type, group_state, ""))
    return items, at


def _read_list_groups_response_v4(data: memoryview, at: int) -> tuple[ListGroupsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 4)
    groups, at = _read_listed_groups_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListGroupsResponse(throttle_time_ms, error_code, groups), at


def _read_listed_groups_v5(data: memoryview, at: int, count: int) -> tuple[list[ListedGroup], int]:
    items: list[ListedGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        protocol_type, at = read_compact_string(data, at)
        group_state, at = read_compact_string(data, at)
        group_type, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ListedGroup(group_id, protocol_type, group_state, group_type))
    return items, at


def _read_list_groups_response_v5(data: memoryview, at: int) -> tuple[ListGroupsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 5)
    groups, at = _read_listed_groups_v5(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListGroupsResponse(throttle_time_ms, error_code, groups), at


def _write_listed_groups_v0(items: Sequence[ListedGroup], out: bytearray) -> None:
    for item in items:
        write_string(item.group_id, out)
        write_string(item.protocol_type, out)


def _write_list_groups_response_v0(item: ListGroupsResponse, out: bytearray) -> None:
    out += _pack_hi(item.error_code, len(item.groups))
    if item.groups:
        _write_listed_groups_v0(item.groups, out)


def _write_list_groups_response_v1(item: ListGroupsResponse, out: bytearray) -> None:
    out += _pack_ihi(item.throttle_time_ms, item.error_code, len(item.groups))
    if item.groups:
        _write_listed_groups_v0(item.groups, out)


def _write_listed_groups_v3(items: Sequence[ListedGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        write_compact_string(item.protocol_type, out)
        out.append(0)


def _write_list_groups_response_v3(item: ListGroupsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_listed_groups_v3(item.groups, out)
    else:
        out.append(1)
    out.append(0)


def _write_listed_groups_v4(items: Sequence[ListedGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        write_compact_string(item.protocol_type, out)
        write_compact_string(item.group_state, out)
        out.append(0)


def _write_list_groups_response_v4(item: ListGroupsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_listed_groups_v4(item.groups, out)
    else:
        out.append(1)
    out.append(0)


def _write_listed_groups_v5(items: Sequence[ListedGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        write_compact_string(item.protocol_type, out)
        write_compact_string(item.group_state, out)
        write_compact_string(item.group_type, out)
        out.append(0)


def _write_list_groups_response_v5(item: ListGroupsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_listed_groups_v5(item.groups, out)
    else:
        out.append(1)
    out.append(0)


ListGroupsResponse.DECODERS = {
    0: _read_list_groups_response_v0,
    1: _read_list_groups_response_v1,
    2: _read_list_groups_response_v1,
    3: _read_list_groups_response_v3,
    4: _read_list_groups_response_v4,
    5: _read_list_groups_response_v5,
}
ListGroupsResponse.ENCODERS = {
    0: _write_list_groups_response_v0,
    1: _write_list_groups_response_v1,
    2: _write_list_groups_response_v1,
    3: _write_list_groups_response_v3,
    4: _write_list_groups_response_v4,
    5: _write_list_groups_response_v5,
}
