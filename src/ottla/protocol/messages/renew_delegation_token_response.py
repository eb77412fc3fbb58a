"""Generated from schemas/renew_delegation_token.schema: RenewDelegationTokenResponse, versions 1-2. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_hqi = Layout(">hqi").unpack_from
_pack_hqi = Layout(">hqi").pack
_unpack_hqiB = Layout(">hqiB").unpack_from
_pack_hqix = Layout(">hqix").pack


class RenewDelegationTokenResponse(Message):
    __slots__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms",)
    API_KEY = 39
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms


def _read_renew_delegation_token_response_v1(data: memoryview, at: int) -> tuple[RenewDelegationTokenResponse, int]:
    error_code, expiry_timestamp_ms, throttle_time_ms = _unpack_hqi(data, at)
    at += 14
    return RenewDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms), at


def _read_renew_delegation_token_response_v2(data: memoryview, at: int) -> tuple[RenewDelegationTokenResponse, int]:
    error_code, expiry_timestamp_ms, throttle_time_ms, more = _unpack_hqiB(data, at)
    at += 15
    if more:
        at = skip_tags(data, at - 1)
    return RenewDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms), at


def _write_renew_delegation_token_response_v1(item: RenewDelegationTokenResponse, out: bytearray) -> None:
    out += _pack_hqi(item.error_code, item.expiry_timestamp_ms, item.throttle_time_ms)


def _write_renew_delegation_token_response_v2(item: RenewDelegationTokenResponse, out: bytearray) -> None:
    out += _pack_hqix(item.error_code, item.expiry_timestamp_ms, item.throttle_time_ms)


RenewDelegationTokenResponse.DECODERS = {
    1: _read_renew_delegation_token_response_v1,
    2: _read_renew_delegation_token_response_v2,
}
RenewDelegationTokenResponse.ENCODERS = {
    1: _write_renew_delegation_token_response_v1,
    2: _write_renew_delegation_token_response_v2,
}
