"""Generated from schemas/sync_group.schema: SyncGroupResponse, versions 0-5. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    read_compact_string,
    skip_tags,
    write_bytes,
    write_compact_bytes,
    write_compact_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class SyncGroupResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "protocol_type", "protocol_name", "assignment",)
    API_KEY = 14
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment


def _read_sync_group_response_v0(data: memoryview, at: int) -> tuple[SyncGroupResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    assignment, at = read_bytes(data, at)
    return SyncGroupResponse(0, error_code, None, None, assignment), at


def _read_sync_group_response_v1(data: memoryview, at: int) -> tuple[SyncGroupResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    assignment, at = read_bytes(data, at)
    return SyncGroupResponse(throttle_time_ms, error_code, None, None, assignment), at


def _read_sync_group_response_v4(data: memoryview, at: int) -> tuple[SyncGroupResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    assignment, at = read_compact_bytes(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return SyncGroupResponse(throttle_time_ms, error_code, None, None, assignment), at


def _read_sync_group_response_v5(data: memoryview, at: int) -> tuple[SyncGroupResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    protocol_type: str | None = None
    if data[at]:
        protocol_type, at = read_compact_string(data, at)
    else:
        at += 1
    protocol_name: str | None = None
    if data[at]:
        protocol_name, at = read_compact_string(data, at)
    else:
        at += 1
    assignment, at = read_compact_bytes(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return SyncGroupResponse(throttle_time_ms, error_code, protocol_type, protocol_name, assignment), at


def _write_sync_group_response_v0(item: SyncGroupResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    write_bytes(item.assignment, out)


def _write_sync_group_response_v1(item: SyncGroupResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    write_bytes(item.assignment, out)


def _write_sync_group_response_v4(item: SyncGroupResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    write_compact_bytes(item.assignment, out)
    out.append(0)


def _write_sync_group_response_v5(item: SyncGroupResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.protocol_type is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_type, out)
    if item.protocol_name is None:
        out.append(0)
    else:
        write_compact_string(item.protocol_name, out)
    write_compact_bytes(item.assignment, out)
    out.append(0)


SyncGroupResponse.DECODERS = {
    0: _read_sync_group_response_v0,
    1: _read_sync_group_response_v1,
    2: _read_sync_group_response_v1,
    3: _read_sync_group_response_v1,
    4: _read_sync_group_response_v4,
    5: _read_sync_group_response_v5,
}
SyncGroupResponse.ENCODERS = {
    0: _write_sync_group_response_v0,
    1: _write_sync_group_response_v1,
    2: _write_sync_group_response_v1,
    3: _write_sync_group_response_v1,
    4: _write_sync_group_response_v4,
    5: _write_sync_group_response_v5,
}
