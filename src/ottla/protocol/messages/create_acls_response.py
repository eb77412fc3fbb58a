"""Generated from schemas/create_acls.schema: CreateAclsResponse, versions 1-3. Do not edit."""

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

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class CreateAclsResponse(Message):
    __slots__ = ("throttle_time_ms", "results",)
    API_KEY = 30
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AclCreationResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results


class AclCreationResult(Struct):
    __slots__ = ("error_code", "error_message",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message


def _read_acl_creation_results_v1(data: memoryview, at: int, count: int) -> tuple[list[AclCreationResult], int]:
    items: list[AclCreationResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        items.append(AclCreationResult(error_code, error_message))
    return items, at


def _read_create_acls_response_v1(data: memoryview, at: int) -> tuple[CreateAclsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 4)
    results, at = _read_acl_creation_results_v1(data, at, count) if count else ([], at)
    return CreateAclsResponse(throttle_time_ms, results), at


def _read_acl_creation_results_v2(data: memoryview, at: int, count: int) -> tuple[list[AclCreationResult], int]:
    items: list[AclCreationResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AclCreationResult(error_code, error_message))
    return items, at


def _read_create_acls_response_v2(data: memoryview, at: int) -> tuple[CreateAclsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 4)
    results, at = _read_acl_creation_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return CreateAclsResponse(throttle_time_ms, results), at


def _write_acl_creation_results_v1(items: Sequence[AclCreationResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)


def _write_create_acls_response_v1(item: CreateAclsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.results))
    if item.results:
        _write_acl_creation_results_v1(item.results, out)


def _write_acl_creation_results_v2(items: Sequence[AclCreationResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_create_acls_response_v2(item: CreateAclsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_acl_creation_results_v2(item.results, out)
    else:
        out.append(1)
    out.append(0)


CreateAclsResponse.DECODERS = {
    1: _read_create_acls_response_v1,
    2: _read_create_acls_response_v2,
    3: _read_create_acls_response_v2,
}
CreateAclsResponse.ENCODERS = {
    1: _write_create_acls_response_v1,
    2: _write_create_acls_response_v2,
    3: _write_create_acls_response_v2,
}
