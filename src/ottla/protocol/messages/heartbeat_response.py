"""Generated from schemas/heartbeat.schema: HeartbeatResponse, versions 0-4. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack


class HeartbeatResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code",)
    API_KEY = 12
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def _read_heartbeat_response_v0(data: memoryview, at: int) -> tuple[HeartbeatResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    return HeartbeatResponse(0, error_code), at


def _read_heartbeat_response_v1(data: memoryview, at: int) -> tuple[HeartbeatResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    return HeartbeatResponse(throttle_time_ms, error_code), at


def _read_heartbeat_response_v4(data: memoryview, at: int) -> tuple[HeartbeatResponse, int]:
    throttle_time_ms, error_code, more = _unpack_ihB(data, at)
    at += 7
    if more:
        at = skip_tags(data, at - 1)
    return HeartbeatResponse(throttle_time_ms, error_code), at


def _write_heartbeat_response_v0(item: HeartbeatResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)


def _write_heartbeat_response_v1(item: HeartbeatResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)


def _write_heartbeat_response_v4(item: HeartbeatResponse, out: bytearray) -> None:
    out += _pack_ihx(item.throttle_time_ms, item.error_code)


HeartbeatResponse.DECODERS = {
    0: _read_heartbeat_response_v0,
    1: _read_heartbeat_response_v1,
    2: _read_heartbeat_response_v1,
    3: _read_heartbeat_response_v1,
    4: _read_heartbeat_response_v4,
}
HeartbeatResponse.ENCODERS = {
    0: _write_heartbeat_response_v0,
    1: _write_heartbeat_response_v1,
    2: _write_heartbeat_response_v1,
    3: _write_heartbeat_response_v1,
    4: _write_heartbeat_response_v4,
}
