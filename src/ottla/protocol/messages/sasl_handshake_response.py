"""Generated from schemas/sasl_handshake.schema: SaslHandshakeResponse, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_count,
    read_strings,
    write_strings,
)

_unpack_h = Layout(">h").unpack_from
_pack_hi = Layout(">hi").pack


class SaslHandshakeResponse(Message):
    __slots__ = ("error_code", "mechanisms",)
    API_KEY = 17
    VERSIONS = range(0, 2)

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: Sequence[str] = (),
    ) -> None:
        self.error_code = error_code
        self.mechanisms = mechanisms


def _read_sasl_handshake_response_v0(data: memoryview, at: int) -> tuple[SaslHandshakeResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_count(data, at, 2)
    mechanisms, at = read_strings(data, at, count) if count else ([], at)
    return SaslHandshakeResponse(error_code, mechanisms), at


def _write_sasl_handshake_response_v0(item: SaslHandshakeResponse, out: bytearray) -> None:
    out += _pack_hi(item.error_code, len(item.mechanisms))
    if item.mechanisms:
        write_strings(item.mechanisms, out)


SaslHandshakeResponse.DECODERS = {
    0: _read_sasl_handshake_response_v0,
    1: _read_sasl_handshake_response_v0,
}
SaslHandshakeResponse.ENCODERS = {
    0: _write_sasl_handshake_response_v0,
    1: _write_sasl_handshake_response_v0,
}
