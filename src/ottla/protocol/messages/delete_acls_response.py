"""Generated from schemas/delete_acls.schema: DeleteAclsResponse, versions 1-3. Do not edit."""

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
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class DeleteAclsResponse(Message):
    __slots__ = ("throttle_time_ms", "filter_results",)
    API_KEY = 31
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: Sequence[DeleteAclsFilterResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = filter_results


class DeleteAclsMatchingAcl(Struct):
    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DeleteAclsFilterResult(Struct):
    __slots__ = ("error_code", "error_message", "matching_acls",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: Sequence[DeleteAclsMatchingAcl] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = matching_acls


def _read_delete_acls_matching_acls_v1(data: memoryview, at: int, count: int) -> tuple[list[DeleteAclsMatchingAcl], int]:
    items: list[DeleteAclsMatchingAcl] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        (pattern_type,) = _unpack_b(data, at)
        at += 1
        principal, at = read_string(data, at)
        host, at = read_string(data, at)
        operation, permission_type = _unpack_bb(data, at)
        at += 2
        items.append(DeleteAclsMatchingAcl(error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type))
    return items, at


def _read_delete_acls_filter_results_v1(data: memoryview, at: int, count: int) -> tuple[list[DeleteAclsFilterResult], int]:
    items: list[DeleteAclsFilterResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        count, at = read_count(data, at, 14)
        matching_acls, at = _read_delete_acls_matching_acls_v1(data, at, count) if count else ([], at)
        items.append(DeleteAclsFilterResult(error_code, error_message, matching_acls))
    return items, at


def _read_delete_acls_response_v1(data: memoryview, at: int) -> tuple[DeleteAclsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 8)
    filter_results, at = _read_delete_acls_filter_results_v1(data, at, count) if count else ([], at)
    return DeleteAclsResponse(throttle_time_ms, filter_results), at


def _read_delete_acls_matching_acls_v2(data: memoryview, at: int, count: int) -> tuple[list[DeleteAclsMatchingAcl], int]:
    items: list[DeleteAclsMatchingAcl] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        (pattern_type,) = _unpack_b(data, at)
        at += 1
        principal, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        operation, permission_type, more = _unpack_bbB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(DeleteAclsMatchingAcl(error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type))
    return items, at


def _read_delete_acls_filter_results_v2(data: memoryview, at: int, count: int) -> tuple[list[DeleteAclsFilterResult], int]:
    items: list[DeleteAclsFilterResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        count, at = read_compact_count(data, at, 11)
        matching_acls, at = _read_delete_acls_matching_acls_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeleteAclsFilterResult(error_code, error_message, matching_acls))
    return items, at


def _read_delete_acls_response_v2(data: memoryview, at: int) -> tuple[DeleteAclsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    filter_results, at = _read_delete_acls_filter_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteAclsResponse(throttle_time_ms, filter_results), at


def _write_delete_acls_matching_acls_v1(items: Sequence[DeleteAclsMatchingAcl], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_b(item.pattern_type)
        write_string(item.principal, out)
        write_string(item.host, out)
        out += _pack_bb(item.operation, item.permission_type)


def _write_delete_acls_filter_results_v1(items: Sequence[DeleteAclsFilterResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)
        out += _pack_i(len(item.matching_acls))
        if item.matching_acls:
            _write_delete_acls_matching_acls_v1(item.matching_acls, out)


def _write_delete_acls_response_v1(item: DeleteAclsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.filter_results))
    if item.filter_results:
        _write_delete_acls_filter_results_v1(item.filter_results, out)


def _write_delete_acls_matching_acls_v2(items: Sequence[DeleteAclsMatchingAcl], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        out += _pack_b(item.pattern_type)
        write_compact_string(item.principal, out)
        write_compact_string(item.host, out)
        out += _pack_bbx(item.operation, item.permission_type)


def _write_delete_acls_filter_results_v2(items: Sequence[DeleteAclsFilterResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        if item.matching_acls:
            out += uvarint(len(item.matching_acls) + 1)
            _write_delete_acls_matching_acls_v2(item.matching_acls, out)
        else:
            out.append(1)
        out.append(0)


def _write_delete_acls_response_v2(item: DeleteAclsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.filter_results:
        out += uvarint(len(item.filter_results) + 1)
        _write_delete_acls_filter_results_v2(item.filter_results, out)
    else:
        out.append(1)
    out.append(0)


DeleteAclsResponse.DECODERS = {
    1: _read_delete_acls_response_v1,
    2: _read_delete_acls_response_v2,
    3: _read_delete_acls_response_v2,
}
DeleteAclsResponse.ENCODERS = {
    1: _write_delete_acls_response_v1,
    2: _write_delete_acls_response_v2,
    3: _write_delete_acls_response_v2,
}
