"""Generated from schemas/delete_acls.schema: DeleteAclsRequest, versions 1-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
)

_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_bb = Layout(">bb").unpack_from
_pack_bb = Layout(">bb").pack
_unpack_bbB = Layout(">bbB").unpack_from
_pack_bbx = Layout(">bbx").pack
_pack_i = Layout(">i").pack


class DeleteAclsRequest(Message):
    __slots__ = ("filters",)
    API_KEY = 31
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        filters: Sequence[DeleteAclsFilter] = (),
    ) -> None:
        self.filters = filters


class DeleteAclsFilter(Struct):
    __slots__ = ("resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter", "host_filter", "operation", "permission_type",)

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type


def _read_delete_acls_filters_v1(data: memoryview, at: int, count: int) -> tuple[list[DeleteAclsFilter], int]:
    items: list[DeleteAclsFilter] = []
    for _ in range(count):
        (resource_type_filter,) = _unpack_b(data, at)
        at += 1
        resource_name_filter, at = read_nullable_string(data, at)
        (pattern_type_filter,) = _unpack_b(data, at)
        at += 1
        principal_filter, at = read_nullable_string(data, at)
        host_filter, at = read_nullable_string(data, at)
        operation, permission_type = _unpack_bb(data, at)
        at += 2
        items.append(DeleteAclsFilter(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type))
    return items, at


def _read_delete_acls_request_v1(data: memoryview, at: int) -> tuple[DeleteAclsRequest, int]:
    count, at = read_count(data, at, 10)
    filters, at = _read_delete_acls_filters_v1(data, at, count) if count else ([], at)
    return DeleteAclsRequest(filters), at


def _read_delete_acls_filters_v2(data: memoryview, at: int, count: int) -> tuple[list[DeleteAclsFilter], int]:
    items: list[DeleteAclsFilter] = []
    for _ in range(count):
        (resource_type_filter,) = _unpack_b(data, at)
        at += 1
        resource_name_filter: str | None = None
        if data[at]:
            resource_name_filter, at = read_compact_string(data, at)
        else:
            at += 1
        (pattern_type_filter,) = _unpack_b(data, at)
        at += 1
        principal_filter: str | None = None
        if data[at]:
            principal_filter, at = read_compact_string(data, at)
        else:
            at += 1
        host_filter: str | None = None
        if data[at]:
            host_filter, at = read_compact_string(data, at)
        else:
            at += 1
        operation, permission_type, more = _unpack_bbB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(DeleteAclsFilter(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type))
    return items, at


def _read_delete_acls_request_v2(data: memoryview, at: int) -> tuple[DeleteAclsRequest, int]:
    count, at = read_compact_count(data, at, 8)
    filters, at = _read_delete_acls_filters_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteAclsRequest(filters), at


def _write_delete_acls_filters_v1(items: Sequence[DeleteAclsFilter], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type_filter)
        write_nullable_string(item.resource_name_filter, out)
        out += _pack_b(item.pattern_type_filter)
        write_nullable_string(item.principal_filter, out)
        write_nullable_string(item.host_filter, out)
        out += _pack_bb(item.operation, item.permission_type)


def _write_delete_acls_request_v1(item: DeleteAclsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.filters))
    if item.filters:
        _write_delete_acls_filters_v1(item.filters, out)


def _write_delete_acls_filters_v2(items: Sequence[DeleteAclsFilter], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type_filter)
        if item.resource_name_filter is None:
            out.append(0)
        else:
            write_compact_string(item.resource_name_filter, out)
        out += _pack_b(item.pattern_type_filter)
        if item.principal_filter is None:
            out.append(0)
        else:
            write_compact_string(item.principal_filter, out)
        if item.host_filter is None:
            out.append(0)
        else:
            write_compact_string(item.host_filter, out)
        out += _pack_bbx(item.operation, item.permission_type)


def _write_delete_acls_request_v2(item: DeleteAclsRequest, out: bytearray) -> None:
    if item.filters:
        out += uvarint(len(item.filters) + 1)
        _write_delete_acls_filters_v2(item.filters, out)
    else:
        out.append(1)
    out.append(0)


DeleteAclsRequest.DECODERS = {
    1: _read_delete_acls_request_v1,
    2: _read_delete_acls_request_v2,
    3: _read_delete_acls_request_v2,
}
DeleteAclsRequest.ENCODERS = {
    1: _write_delete_acls_request_v1,
    2: _write_delete_acls_request_v2,
    3: _write_delete_acls_request_v2,
}
