"""Generated from schemas/broker_heartbeat.schema: BrokerHeartbeatResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_ihtttB = Layout(">ih???B").unpack_from
_pack_ihtttx = Layout(">ih???x").pack


class BrokerHeartbeatResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "is_caught_up", "is_fenced", "should_shut_down",)
    API_KEY = 63
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down


def _read_broker_heartbeat_response_v0(data: memoryview, at: int) -> tuple[BrokerHeartbeatResponse, int]:
    throttle_time_ms, error_code, is_caught_up, is_fenced, should_shut_down, more = _unpack_ihtttB(data, at)
    at += 10
    if more:
        at = skip_tags(data, at - 1)
    return BrokerHeartbeatResponse(throttle_time_ms, error_code, is_caught_up, is_fenced, should_shut_down), at


def _write_broker_heartbeat_response_v0(item: BrokerHeartbeatResponse, out: bytearray) -> None:
    out += _pack_ihtttx(item.throttle_time_ms, item.error_code, item.is_caught_up, item.is_fenced, item.should_shut_down)


BrokerHeartbeatResponse.DECODERS = {
    0: _read_broker_heartbeat_response_v0,
    1: _read_broker_heartbeat_response_v0,
    2: _read_broker_heartbeat_response_v0,
}
BrokerHeartbeatResponse.ENCODERS = {
    0: _write_broker_heartbeat_response_v0,
    1: _write_broker_heartbeat_response_v0,
    2: _write_broker_heartbeat_response_v0,
}
