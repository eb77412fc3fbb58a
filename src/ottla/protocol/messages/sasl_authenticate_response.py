"""Generated from schemas/sasl_authenticate.schema: SaslAuthenticateResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    read_compact_string,
    read_nullable_string,
    skip_tags,
    write_bytes,
    write_compact_bytes,
    write_compact_string,
    write_nullable_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_unpack_qB = Layout(">qB").unpack_from
_pack_qx = Layout(">qx").pack


class SaslAuthenticateResponse(Message):
    __slots__ = ("error_code", "error_message", "auth_bytes", "session_lifetime_ms",)
    API_KEY = 36
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms


def _read_sasl_authenticate_response_v0(data: memoryview, at: int) -> tuple[SaslAuthenticateResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    error_message, at = read_nullable_string(data, at)
    auth_bytes, at = read_bytes(data, at)
    return SaslAuthenticateResponse(error_code, error_message, auth_bytes, 0), at


def _read_sasl_authenticate_response_v1(data: memoryview, at: int) -> tuple[SaslAuthenticateResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    error_message, at = read_nullable_string(data, at)
    auth_bytes, at = read_bytes(data, at)
    (session_lifetime_ms,) = _unpack_q(data, at)
    at += 8
    return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms), at


def _read_sasl_authenticate_response_v2(data: memoryview, at: int) -> tuple[SaslAuthenticateResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    auth_bytes, at = read_compact_bytes(data, at)
    session_lifetime_ms, more = _unpack_qB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms), at


def _write_sasl_authenticate_response_v0(item: SaslAuthenticateResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    write_nullable_string(item.error_message, out)
    write_bytes(item.auth_bytes, out)


def _write_sasl_authenticate_response_v1(item: SaslAuthenticateResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    write_nullable_string(item.error_message, out)
    write_bytes(item.auth_bytes, out)
    out += _pack_q(item.session_lifetime_ms)


def _write_sasl_authenticate_response_v2(item: SaslAuthenticateResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    write_compact_bytes(item.auth_bytes, out)
    out += _pack_qx(item.session_lifetime_ms)


SaslAuthenticateResponse.DECODERS = {
    0: _read_sasl_authenticate_response_v0,
    1: _read_sasl_authenticate_response_v1,
    2: _read_sasl_authenticate_response_v2,
}
SaslAuthenticateResponse.ENCODERS = {
    0: _write_sasl_authenticate_response_v0,
    1: _write_sasl_authenticate_response_v1,
    2: _write_sasl_authenticate_response_v2,
}
