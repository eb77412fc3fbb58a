"""Generated from schemas/push_telemetry.schema: PushTelemetryResponse, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack


class PushTelemetryResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code",)
    API_KEY = 72
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def _read_push_telemetry_response_v0(data: memoryview, at: int) -> tuple[PushTelemetryResponse, int]:
    throttle_time_ms, error_code, more = _unpack_ihB(data, at)
    at += 7
    if more:
        at = skip_tags(data, at - 1)
    return PushTelemetryResponse(throttle_time_ms, error_code), at


def _write_push_telemetry_response_v0(item: PushTelemetryResponse, out: bytearray) -> None:
    out += _pack_ihx(item.throttle_time_ms, item.error_code)


PushTelemetryResponse.DECODERS = {
    0: _read_push_telemetry_response_v0,
}
PushTelemetryResponse.ENCODERS = {
    0: _write_push_telemetry_response_v0,
}
