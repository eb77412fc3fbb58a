"""Generated from schemas/describe_groups.schema: DescribeGroupsRequest, versions 0-6. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_strings,
    read_count,
    read_strings,
    skip_tags,
    uvarint,
    write_compact_strings,
    write_strings,
)

_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_pack_i = Layout(">i").pack


class DescribeGroupsRequest(Message):
    __slots__ = ("groups", "include_authorized_operations",)
    API_KEY = 15
    VERSIONS = range(0, 7)
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        groups: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups = groups
        self.include_authorized_operations = include_authorized_operations


def _read_describe_groups_request_v0(data: memoryview, at: int) -> tuple[DescribeGroupsRequest, int]:
    count, at = read_count(data, at, 2)
    groups, at = read_strings(data, at, count) if count else ([], at)
    return DescribeGroupsRequest(groups, False), at


def _read_describe_groups_request_v3(data: memoryview, at: int) -> tuple[DescribeGroupsRequest, int]:
    count, at = read_count(data, at, 2)
    groups, at = read_strings(data, at, count) if count else ([], at)
    (include_authorized_operations,) = _unpack_t(data, at)
    at += 1
    return DescribeGroupsRequest(groups, include_authorized_operations), at


def _read_describe_groups_request_v5(data: memoryview, at: int) -> tuple[DescribeGroupsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    groups, at = read_compact_strings(data, at, count) if count else ([], at)
    include_authorized_operations, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return DescribeGroupsRequest(groups, include_authorized_operations), at


def _write_describe_groups_request_v0(item: DescribeGroupsRequest, out: bytearray) -> None:
    if item.include_authorized_operations:
        refuse_field("DescribeGroupsRequest.include_authorized_operations")
    out += _pack_i(len(item.groups))
    if item.groups:
        write_strings(item.groups, out)


def _write_describe_groups_request_v3(item: DescribeGroupsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.groups))
    if item.groups:
        write_strings(item.groups, out)
    out += _pack_t(item.include_authorized_operations)


def _write_describe_groups_request_v5(item: DescribeGroupsRequest, out: bytearray) -> None:
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        write_compact_strings(item.groups, out)
    else:
        out.append(1)
    out += _pack_tx(item.include_authorized_operations)


DescribeGroupsRequest.DECODERS = {
    0: _read_describe_groups_request_v0,
    1: _read_describe_groups_request_v0,
    2: _read_describe_groups_request_v0,
    3: _read_describe_groups_request_v3,
    4: _read_describe_groups_request_v3,
    5: _read_describe_groups_request_v5,
    6: _read_describe_groups_request_v5,
}
DescribeGroupsRequest.ENCODERS = {
    0: _write_describe_groups_request_v0,
    1: _write_describe_groups_request_v0,
    2: _write_describe_groups_request_v0,
    3: _write_describe_groups_request_v3,
    4: _write_describe_groups_request_v3,
    5: _write_describe_groups_request_v5,
    6: _write_describe_groups_request_v5,
}
