"""Generated from schemas/add_offsets_to_txn.schema: AddOffsetsToTxnResponse, versions 0-4. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack


class AddOffsetsToTxnResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code",)
    API_KEY = 25
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def _read_add_offsets_to_txn_response_v0(data: memoryview, at: int) -> tuple[AddOffsetsToTxnResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    return AddOffsetsToTxnResponse(throttle_time_ms, error_code), at


def _read_add_offsets_to_txn_response_v3(data: memoryview, at: int) -> tuple[AddOffsetsToTxnResponse, int]:
    throttle_time_ms, error_code, more = _unpack_ihB(data, at)
    at += 7
    if more:
        at = skip_tags(data, at - 1)
    return AddOffsetsToTxnResponse(throttle_time_ms, error_code), at


def _write_add_offsets_to_txn_response_v0(item: AddOffsetsToTxnResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)


def _write_add_offsets_to_txn_response_v3(item: AddOffsetsToTxnResponse, out: bytearray) -> None:
    out += _pack_ihx(item.throttle_time_ms, item.error_code)


AddOffsetsToTxnResponse.DECODERS = {
    0: _read_add_offsets_to_txn_response_v0,
    1: _read_add_offsets_to_txn_response_v0,
    2: _read_add_offsets_to_txn_response_v0,
    3: _read_add_offsets_to_txn_response_v3,
    4: _read_add_offsets_to_txn_response_v3,
}
AddOffsetsToTxnResponse.ENCODERS = {
    0: _write_add_offsets_to_txn_response_v0,
    1: _write_add_offsets_to_txn_response_v0,
    2: _write_add_offsets_to_txn_response_v0,
    3: _write_add_offsets_to_txn_response_v3,
    4: _write_add_offsets_to_txn_response_v3,
}
