"""Generated from schemas/envelope.schema: EnvelopeResponse, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_nullable_bytes,
    skip_tags,
    write_compact_nullable_bytes,
)

_unpack_hB = Layout(">hB").unpack_from
_pack_hx = Layout(">hx").pack


class EnvelopeResponse(Message):
    __slots__ = ("response_data", "error_code",)
    API_KEY = 58
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code


def _read_envelope_response_v0(data: memoryview, at: int) -> tuple[EnvelopeResponse, int]:
    response_data, at = read_compact_nullable_bytes(data, at)
    error_code, more = _unpack_hB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return EnvelopeResponse(response_data, error_code), at


def _write_envelope_response_v0(item: EnvelopeResponse, out: bytearray) -> None:
    write_compact_nullable_bytes(item.response_data, out)
    out += _pack_hx(item.error_code)


EnvelopeResponse.DECODERS = {
    0: _read_envelope_response_v0,
}
EnvelopeResponse.ENCODERS = {
    0: _write_envelope_response_v0,
}
