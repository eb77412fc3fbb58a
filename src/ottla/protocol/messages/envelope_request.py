"""Generated from schemas/envelope.schema: EnvelopeRequest, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_bytes,
    read_compact_nullable_bytes,
    skip_tags,
    write_compact_bytes,
    write_compact_nullable_bytes,
)



class EnvelopeRequest(Message):
    __slots__ = ("request_data", "request_principal", "client_host_address",)
    API_KEY = 58
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address


def _read_envelope_request_v0(data: memoryview, at: int) -> tuple[EnvelopeRequest, int]:
    request_data, at = read_compact_bytes(data, at)
    request_principal, at = read_compact_nullable_bytes(data, at)
    client_host_address, at = read_compact_bytes(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return EnvelopeRequest(request_data, request_principal, client_host_address), at


def _write_envelope_request_v0(item: EnvelopeRequest, out: bytearray) -> None:
    write_compact_bytes(item.request_data, out)
    write_compact_nullable_bytes(item.request_principal, out)
    write_compact_bytes(item.client_host_address, out)
    out.append(0)


EnvelopeRequest.DECODERS = {
    0: _read_envelope_request_v0,
}
EnvelopeRequest.ENCODERS = {
    0: _write_envelope_request_v0,
}
