"""Generated from schemas/create_acls.schema: CreateAclsRequest, versions 1-3. Do not edit."""

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

_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_bb = Layout(">bb").unpack_from
_pack_bb = Layout(">bb").pack
_unpack_bbB = Layout(">bbB").unpack_from
_pack_bbx = Layout(">bbx").pack
_pack_i = Layout(">i").pack


class CreateAclsRequest(Message):
    __slots__ = ("creations",)
    API_KEY = 30
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        creations: Sequence[AclCreation] = (),
    ) -> None:
        self.creations = creations


class AclCreation(Struct):
    __slots__ = ("resource_type", "resource_name", "resource_pattern_type", "principal", "host", "operation", "permission_type",)

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


def _read_acl_creations_v1(data: memoryview, at: int, count: int) -> tuple[list[AclCreation], int]:
    items: list[AclCreation] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        (resource_pattern_type,) = _unpack_b(data, at)
        at += 1
        principal, at = read_string(data, at)
        host, at = read_string(data, at)
        operation, permission_type = _unpack_bb(data, at)
        at += 2
        items.append(AclCreation(resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type))
    return items, at


def _read_create_acls_request_v1(data: memoryview, at: int) -> tuple[CreateAclsRequest, int]:
    count, at = read_count(data, at, 10)
    creations, at = _read_acl_creations_v1(data, at, count) if count else ([], at)
    return CreateAclsRequest(creations), at


def _read_acl_creations_v2(data: memoryview, at: int, count: int) -> tuple[list[AclCreation], int]:
    items: list[AclCreation] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        (resource_pattern_type,) = _unpack_b(data, at)
        at += 1
        principal, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        operation, permission_type, more = _unpack_bbB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(AclCreation(resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type))
    return items, at


def _read_create_acls_request_v2(data: memoryview, at: int) -> tuple[CreateAclsRequest, int]:
    count, at = read_compact_count(data, at, 8)
    creations, at = _read_acl_creations_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return CreateAclsRequest(creations), at


def _write_acl_creations_v1(items: Sequence[AclCreation], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_b(item.resource_pattern_type)
        write_string(item.principal, out)
        write_string(item.host, out)
        out += _pack_bb(item.operation, item.permission_type)


def _write_create_acls_request_v1(item: CreateAclsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.creations))
    if item.creations:
        _write_acl_creations_v1(item.creations, out)


def _write_acl_creations_v2(items: Sequence[AclCreation], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        out += _pack_b(item.resource_pattern_type)
        write_compact_string(item.principal, out)
        write_compact_string(item.host, out)
        out += _pack_bbx(item.operation, item.permission_type)


def _write_create_acls_request_v2(item: CreateAclsRequest, out: bytearray) -> None:
    if item.creations:
        out += uvarint(len(item.creations) + 1)
        _write_acl_creations_v2(item.creations, out)
    else:
        out.append(1)
    out.append(0)


CreateAclsRequest.DECODERS = {
    1: _read_create_acls_request_v1,
    2: _read_create_acls_request_v2,
    3: _read_create_acls_request_v2,
}
CreateAclsRequest.ENCODERS = {
    1: _write_create_acls_request_v1,
    2: _write_create_acls_request_v2,
    3: _write_create_acls_request_v2,
}
