"""Generated from schemas/api_versions.schema: ApiVersionsRequest, versions 0-4. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_string,
    skip_tags,
    write_compact_string,
)



class ApiVersionsRequest(Message):
    __slots__ = ("client_software_name", "client_software_version",)
    API_KEY = 18
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version


def _read_api_versions_request_v0(data: memoryview, at: int) -> tuple[ApiVersionsRequest, int]:
    return ApiVersionsRequest("", ""), at


def _read_api_versions_request_v3(data: memoryview, at: int) -> tuple[ApiVersionsRequest, int]:
    client_software_name, at = read_compact_string(data, at)
    client_software_version, at = read_compact_string(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ApiVersionsRequest(client_software_name, client_software_version), at


def _write_api_versions_request_v0(item: ApiVersionsRequest, out: bytearray) -> None:
    pass


def _write_api_versions_request_v3(item: ApiVersionsRequest, out: bytearray) -> None:
    write_compact_string(item.client_software_name, out)
    write_compact_string(item.client_software_version, out)
    out.append(0)


ApiVersionsRequest.DECODERS = {
    0: _read_api_versions_request_v0,
    1: _read_api_versions_request_v0,
    2: _read_api_versions_request_v0,
    3: _read_api_versions_request_v3,
    4: _read_api_versions_request_v3,
}
ApiVersionsRequest.ENCODERS = {
    0: _write_api_versions_request_v0,
    1: _write_api_versions_request_v0,
    2: _write_api_versions_request_v0,
    3: _write_api_versions_request_v3,
    4: _write_api_versions_request_v3,
}
