"""Generated from schemas/broker_registration.schema: BrokerRegistrationResponse, versions 0-4. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_ihqB = Layout(">ihqB").unpack_from
_pack_ihqx = Layout(">ihqx").pack


class BrokerRegistrationResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "broker_epoch",)
    API_KEY = 62
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch


def _read_broker_registration_response_v0(data: memoryview, at: int) -> tuple[BrokerRegistrationResponse, int]:
    throttle_time_ms, error_code, broker_epoch, more = _unpack_ihqB(data, at)
    at += 15
    if more:
        at = skip_tags(data, at - 1)
    return BrokerRegistrationResponse(throttle_time_ms, error_code, broker_epoch), at


def _write_broker_registration_response_v0(item: BrokerRegistrationResponse, out: bytearray) -> None:
    out += _pack_ihqx(item.throttle_time_ms, item.error_code, item.broker_epoch)


BrokerRegistrationResponse.DECODERS = {
    0: _read_broker_registration_response_v0,
    1: _read_broker_registration_response_v0,
    2: _read_broker_registration_response_v0,
    3: _read_broker_registration_response_v0,
    4: _read_broker_registration_response_v0,
}
BrokerRegistrationResponse.ENCODERS = {
    0: _write_broker_registration_response_v0,
    1: _write_broker_registration_response_v0,
    2: _write_broker_registration_response_v0,
    3: _write_broker_registration_response_v0,
    4: _write_broker_registration_response_v0,
}
