"""Generated from schemas/describe_acls.schema: DescribeAclsResponse, versions 1-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
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

_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_bb = Layout(">bb").unpack_from
_pack_bb = Layout(">bb").pack
_unpack_bbB = Layout(">bbB").unpack_from
_pack_bbx = Layout(">bbx").pack
_pack_bi = Layout(">bi").pack
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class DescribeAclsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "resources",)
    API_KEY = 29
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: Sequence[DescribeAclsResource] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = resources


class AclDescription(Struct):
    __slots__ = ("principal", "host", "operation", "permission_type",)

    def __init__(
        self,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DescribeAclsResource(Struct):
    __slots__ = ("resource_type", "resource_name", "pattern_type", "acls",)

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: Sequence[AclDescription] = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = acls


def _read_acl_descriptions_v1(data: memoryview, at: int, count: int) -> tuple[list[AclDescription], int]:
    items: list[AclDescription] = []
    for _ in range(count):
        principal, at = read_string(data, at)
        host, at = read_string(data, at)
        operation, permission_type = _unpack_bb(data, at)
        at += 2
        items.append(AclDescription(principal, host, operation, permission_type))
    return items, at


def _read_describe_acls_resources_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeAclsResource], int]:
    items: list[DescribeAclsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        (pattern_type,) = _unpack_b(data, at)
        at += 1
        count, at = read_count(data, at, 6)
        acls, at = _read_acl_descriptions_v1(data, at, count) if count else ([], at)
        items.append(DescribeAclsResource(resource_type, resource_name, pattern_type, acls))
    return items, at


def _read_describe_acls_response_v1(data: memoryview, at: int) -> tuple[DescribeAclsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message, at = read_nullable_string(data, at)
    count, at = read_count(data, at, 8)
    resources, at = _read_describe_acls_resources_v1(data, at, count) if count else ([], at)
    return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources), at


def _read_acl_descriptions_v2(data: memoryview, at: int, count: int) -> tuple[list[AclDescription], int]:
    items: list[AclDescription] = []
    for _ in range(count):
        principal, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        operation, permission_type, more = _unpack_bbB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(AclDescription(principal, host, operation, permission_type))
    return items, at


def _read_describe_acls_resources_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribeAclsResource], int]:
    items: list[DescribeAclsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        (pattern_type,) = _unpack_b(data, at)
        at += 1
        count, at = read_compact_count(data, at, 5)
        acls, at = _read_acl_descriptions_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeAclsResource(resource_type, resource_name, pattern_type, acls))
    return items, at


def _read_describe_acls_response_v2(data: memoryview, at: int) -> tuple[DescribeAclsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 5)
    resources, at = _read_describe_acls_resources_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources), at


def _write_acl_descriptions_v1(items: Sequence[AclDescription], out: bytearray) -> None:
    for item in items:
        write_string(item.principal, out)
        write_string(item.host, out)
        out += _pack_bb(item.operation, item.permission_type)


def _write_describe_acls_resources_v1(items: Sequence[DescribeAclsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_bi(item.pattern_type, len(item.acls))
        if item.acls:
            _write_acl_descriptions_v1(item.acls, out)


def _write_describe_acls_response_v1(item: DescribeAclsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    write_nullable_string(item.error_message, out)
    out += _pack_i(len(item.resources))
    if item.resources:
        _write_describe_acls_resources_v1(item.resources, out)


def _write_acl_descriptions_v2(items: Sequence[AclDescription], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.principal, out)
        write_compact_string(item.host, out)
        out += _pack_bbx(item.operation, item.permission_type)


def _write_describe_acls_resources_v2(items: Sequence[DescribeAclsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        out += _pack_b(item.pattern_type)
        if item.acls:
            out += uvarint(len(item.acls) + 1)
            _write_acl_descriptions_v2(item.acls, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_acls_response_v2(item: DescribeAclsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.resources:
        out += uvarint(len(item.resources) + 1)
        _write_describe_acls_resources_v2(item.resources, out)
    else:
        out.append(1)
    out.append(0)


DescribeAclsResponse.DECODERS = {
    1: _read_describe_acls_response_v1,
    2: _read_describe_acls_response_v2,
    3: _read_describe_acls_response_v2,
}
DescribeAclsResponse.ENCODERS = {
    1: _write_describe_acls_response_v1,
    2: _write_describe_acls_response_v2,
    3: _write_describe_acls_response_v2,
}
