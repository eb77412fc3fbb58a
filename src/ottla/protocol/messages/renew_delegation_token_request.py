"""Generated from schemas/renew_delegation_token.schema: RenewDelegationTokenRequest, versions 1-2. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    skip_tags,
    write_bytes,
    write_compact_bytes,
)

_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_unpack_qB = Layout(">qB").unpack_from
_pack_qx = Layout(">qx").pack


class RenewDelegationTokenRequest(Message):
    __slots__ = ("hmac", "renew_period_ms",)
    API_KEY = 39
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms


def _read_renew_delegation_token_request_v1(data: memoryview, at: int) -> tuple[RenewDelegationTokenRequest, int]:
    hmac, at = read_bytes(data, at)
    (renew_period_ms,) = _unpack_q(data, at)
    at += 8
    return RenewDelegationTokenRequest(hmac, renew_period_ms), at


def _read_renew_delegation_token_request_v2(data: memoryview, at: int) -> tuple[RenewDelegationTokenRequest, int]:
    hmac, at = read_compact_bytes(data, at)
    renew_period_ms, more = _unpack_qB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return RenewDelegationTokenRequest(hmac, renew_period_ms), at


def _write_renew_delegation_token_request_v1(item: RenewDelegationTokenRequest, out: bytearray) -> None:
    write_bytes(item.hmac, out)
    out += _pack_q(item.renew_period_ms)


def _write_renew_delegation_token_request_v2(item: RenewDelegationTokenRequest, out: bytearray) -> None:
    write_compact_bytes(item.hmac, out)
    out += _pack_qx(item.renew_period_ms)


RenewDelegationTokenRequest.DECODERS = {
    1: _read_renew_delegation_token_request_v1,
    2: _read_renew_delegation_token_request_v2,
}
RenewDelegationTokenRequest.ENCODERS = {
    1: _write_renew_delegation_token_request_v1,
    2: _write_renew_delegation_token_request_v2,
}
