"""Generated from schemas/data/response_header.schema: ResponseHeader, versions 0-1. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class ResponseHeader(Message):
    __slots__ = ("correlation_id",)
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        correlation_id: int = 0,
    ) -> None:
        self.correlation_id = correlation_id


def _read_response_header_v0(data: memoryview, at: int) -> tuple[ResponseHeader, int]:
    (correlation_id,) = _unpack_i(data, at)
    at += 4
    return ResponseHeader(correlation_id), at


def _read_response_header_v1(data: memoryview, at: int) -> tuple[ResponseHeader, int]:
    correlation_id, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return ResponseHeader(correlation_id), at


def _write_response_header_v0(item: ResponseHeader, out: bytearray) -> None:
    out += _pack_i(item.correlation_id)


def _write_response_header_v1(item: ResponseHeader, out: bytearray) -> None:
    out += _pack_ix(item.correlation_id)


ResponseHeader.DECODERS = {
    0: _read_response_header_v0,
    1: _read_response_header_v1,
}
ResponseHeader.ENCODERS = {
    0: _write_response_header_v0,
    1: _write_response_header_v1,
}
