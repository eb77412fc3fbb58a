"""Generated from schemas/data/request_header.schema: RequestHeader, versions 1-2. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_nullable_string,
    skip_tags,
    write_nullable_string,
)

_unpack_hhi = Layout(">hhi").unpack_from
_pack_hhi = Layout(">hhi").pack


class RequestHeader(Message):
    __slots__ = ("request_api_key", "request_api_version", "correlation_id", "client_id",)
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
    ) -> None:
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id


def _read_request_header_v1(data: memoryview, at: int) -> tuple[RequestHeader, int]:
    request_api_key, request_api_version, correlation_id = _unpack_hhi(data, at)
    at += 8
    client_id, at = read_nullable_string(data, at)
    return RequestHeader(request_api_key, request_api_version, correlation_id, client_id), at


def _read_request_header_v2(data: memoryview, at: int) -> tuple[RequestHeader, int]:
    request_api_key, request_api_version, correlation_id = _unpack_hhi(data, at)
    at += 8
    client_id, at = read_nullable_string(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return RequestHeader(request_api_key, request_api_version, correlation_id, client_id), at


def _write_request_header_v1(item: RequestHeader, out: bytearray) -> None:
    out += _pack_hhi(item.request_api_key, item.request_api_version, item.correlation_id)
    write_nullable_string(item.client_id, out)


def _write_request_header_v2(item: RequestHeader, out: bytearray) -> None:
    out += _pack_hhi(item.request_api_key, item.request_api_version, item.correlation_id)
    write_nullable_string(item.client_id, out)
    out.append(0)


RequestHeader.DECODERS = {
    1: _read_request_header_v1,
    2: _read_request_header_v2,
}
RequestHeader.ENCODERS = {
    1: _write_request_header_v1,
    2: _write_request_header_v2,
}
