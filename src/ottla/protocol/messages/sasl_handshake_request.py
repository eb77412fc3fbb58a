"""Generated from schemas/sasl_handshake.schema: SaslHandshakeRequest, versions 0-1. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class SaslHandshakeRequest(Message):
    __slots__ = ("mechanism",)
    API_KEY = 17
    VERSIONS = range(0, 2)

    def __init__(
        self,
        mechanism: str = "",
    ) -> None:
        self.mechanism = mechanism


def _read_sasl_handshake_request_v0(data: memoryview, at: int) -> tuple[SaslHandshakeRequest, int]:
    mechanism, at = read_string(data, at)
    return SaslHandshakeRequest(mechanism), at


def _write_sasl_handshake_request_v0(item: SaslHandshakeRequest, out: bytearray) -> None:
    write_string(item.mechanism, out)


SaslHandshakeRequest.DECODERS = {
    0: _read_sasl_handshake_request_v0,
    1: _read_sasl_handshake_request_v0,
}
SaslHandshakeRequest.ENCODERS = {
    0: _write_sasl_handshake_request_v0,
    1: _write_sasl_handshake_request_v0,
}
