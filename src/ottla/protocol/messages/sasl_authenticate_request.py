"""Generated from schemas/sasl_authenticate.schema: SaslAuthenticateRequest, versions 0-2. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    skip_tags,
    write_bytes,
    write_compact_bytes,
)



class SaslAuthenticateRequest(Message):
    __slots__ = ("auth_bytes",)
    API_KEY = 36
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes


def _read_sasl_authenticate_request_v0(data: memoryview, at: int) -> tuple[SaslAuthenticateRequest, int]:
    auth_bytes, at = read_bytes(data, at)
    return SaslAuthenticateRequest(auth_bytes), at


def _read_sasl_authenticate_request_v2(data: memoryview, at: int) -> tuple[SaslAuthenticateRequest, int]:
    auth_bytes, at = read_compact_bytes(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return SaslAuthenticateRequest(auth_bytes), at


def _write_sasl_authenticate_request_v0(item: SaslAuthenticateRequest, out: bytearray) -> None:
    write_bytes(item.auth_bytes, out)


def _write_sasl_authenticate_request_v2(item: SaslAuthenticateRequest, out: bytearray) -> None:
    write_compact_bytes(item.auth_bytes, out)
    out.append(0)


SaslAuthenticateRequest.DECODERS = {
    0: _read_sasl_authenticate_request_v0,
    1: _read_sasl_authenticate_request_v0,
    2: _read_sasl_authenticate_request_v2,
}
SaslAuthenticateRequest.ENCODERS = {
    0: _write_sasl_authenticate_request_v0,
    1: _write_sasl_authenticate_request_v0,
    2: _write_sasl_authenticate_request_v2,
}
