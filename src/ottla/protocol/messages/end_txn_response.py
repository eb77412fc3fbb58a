"""Generated from schemas/end_txn.schema: EndTxnResponse, versions 0-5. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihB = Layout(">ihB").unpack_from
_unpack_ihqhB = Layout(">ihqhB").unpack_from
_pack_ihqhx = Layout(">ihqhx").pack
_pack_ihx = Layout(">ihx").pack


class EndTxnResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch",)
    API_KEY = 26
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch


def _read_end_txn_response_v0(data: memoryview, at: int) -> tuple[EndTxnResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    return EndTxnResponse(throttle_time_ms, error_code, -1, -1), at


def _read_end_txn_response_v3(data: memoryview, at: int) -> tuple[EndTxnResponse, int]:
    throttle_time_ms, error_code, more = _unpack_ihB(data, at)
    at += 7
    if more:
        at = skip_tags(data, at - 1)
    return EndTxnResponse(throttle_time_ms, error_code, -1, -1), at


def _read_end_txn_response_v5(data: memoryview, at: int) -> tuple[EndTxnResponse, int]:
    throttle_time_ms, error_code, producer_id, producer_epoch, more = _unpack_ihqhB(data, at)
    at += 17
    if more:
        at = skip_tags(data, at - 1)
    return EndTxnResponse(throttle_time_ms, error_code, producer_id, producer_epoch), at


def _write_end_txn_response_v0(item: EndTxnResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)


def _write_end_txn_response_v3(item: EndTxnResponse, out: bytearray) -> None:
    out += _pack_ihx(item.throttle_time_ms, item.error_code)


def _write_end_txn_response_v5(item: EndTxnResponse, out: bytearray) -> None:
    out += _pack_ihqhx(item.throttle_time_ms, item.error_code, item.producer_id, item.producer_epoch)


EndTxnResponse.DECODERS = {
    0: _read_end_txn_response_v0,
    1: _read_end_txn_response_v0,
    2: _read_end_txn_response_v0,
    3: _read_end_txn_response_v3,
    4: _read_end_txn_response_v3,
    5: _read_end_txn_response_v5,
}
EndTxnResponse.ENCODERS = {
    0: _write_end_txn_response_v0,
    1: _write_end_txn_response_v0,
    2: _write_end_txn_response_v0,
    3: _write_end_txn_response_v3,
    4: _write_end_txn_response_v3,
    5: _write_end_txn_response_v5,
}
