"""Generated from schemas/describe_acls.schema: DescribeAclsRequest, versions 1-3. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_string,
    read_nullable_string,
    skip_tags,
    write_compact_string,
    write_nullable_string,
)

_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_bb = Layout(">bb").unpack_from
_pack_bb = Layout(">bb").pack
_unpack_bbB = Layout(">bbB").unpack_from
_pack_bbx = Layout(">bbx").pack


class DescribeAclsRequest(Message):
    __slots__ = ("resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter", "host_filter", "operation", "permission_type",)
    API_KEY = 29
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

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


def _read_describe_acls_request_v1(data: memoryview, at: int) -> tuple[DescribeAclsRequest, int]:
    (resource_type_filter,) = _unpack_b(data, at)
    at += 1
    resource_name_filter, at = read_nullable_string(data, at)
    (pattern_type_filter,) = _unpack_b(data, at)
    at += 1
    principal_filter, at = read_nullable_string(data, at)
    host_filter, at = read_nullable_string(data, at)
    operation, permission_type = _unpack_bb(data, at)
    at += 2
    return DescribeAclsRequest(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type), at


def _read_describe_acls_request_v2(data: memoryview, at: int) -> tuple[DescribeAclsRequest, int]:
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
    return DescribeAclsRequest(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type), at


def _write_describe_acls_request_v1(item: DescribeAclsRequest, out: bytearray) -> None:
    out += _pack_b(item.resource_type_filter)
    write_nullable_string(item.resource_name_filter, out)
    out += _pack_b(item.pattern_type_filter)
    write_nullable_string(item.principal_filter, out)
    write_nullable_string(item.host_filter, out)
    out += _pack_bb(item.operation, item.permission_type)


def _write_describe_acls_request_v2(item: DescribeAclsRequest, out: bytearray) -> None:
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


DescribeAclsRequest.DECODERS = {
    1: _read_describe_acls_request_v1,
    2: _read_describe_acls_request_v2,
    3: _read_describe_acls_request_v2,
}
DescribeAclsRequest.ENCODERS = {
    1: _write_describe_acls_request_v1,
    2: _write_describe_acls_request_v2,
    3: _write_describe_acls_request_v2,
}
