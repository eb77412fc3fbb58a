"""Generated from schemas/init_producer_id.schema: InitProducerIdResponse, versions 0-6. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_ihqh = Layout(">ihqh").unpack_from
_pack_ihqh = Layout(">ihqh").pack
_unpack_ihqhB = Layout(">ihqhB").unpack_from
_unpack_ihqhqhB = Layout(">ihqhqhB").unpack_from
_pack_ihqhqhx = Layout(">ihqhqhx").pack
_pack_ihqhx = Layout(">ihqhx").pack


class InitProducerIdResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch", "ongoing_txn_producer_id", "ongoing_txn_producer_epoch",)
    API_KEY = 22
    VERSIONS = range(0, 7)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch


def _read_init_producer_id_response_v0(data: memoryview, at: int) -> tuple[InitProducerIdResponse, int]:
    throttle_time_ms, error_code, producer_id, producer_epoch = _unpack_ihqh(data, at)
    at += 16
    return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch, -1, -1), at


def _read_init_producer_id_response_v2(data: memoryview, at: int) -> tuple[InitProducerIdResponse, int]:
    throttle_time_ms, error_code, producer_id, producer_epoch, more = _unpack_ihqhB(data, at)
    at += 17
    if more:
        at = skip_tags(data, at - 1)
    return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch, -1, -1), at


def _read_init_producer_id_response_v6(data: memoryview, at: int) -> tuple[InitProducerIdResponse, int]:
    throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id, ongoing_txn_producer_epoch, more = _unpack_ihqhqhB(data, at)
    at += 27
    if more:
        at = skip_tags(data, at - 1)
    return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id, ongoing_txn_producer_epoch), at


def _write_init_producer_id_response_v0(item: InitProducerIdResponse, out: bytearray) -> None:
    if item.ongoing_txn_producer_id != -1:
        refuse_field("InitProducerIdResponse.ongoing_txn_producer_id")
    if item.ongoing_txn_producer_epoch != -1:
        refuse_field("InitProducerIdResponse.ongoing_txn_producer_epoch")
    out += _pack_ihqh(item.throttle_time_ms, item.error_code, item.producer_id, item.producer_epoch)


def _write_init_producer_id_response_v2(item: InitProducerIdResponse, out: bytearray) -> None:
    if item.ongoing_txn_producer_id != -1:
        refuse_field("InitProducerIdResponse.ongoing_txn_producer_id")
    if item.ongoing_txn_producer_epoch != -1:
        refuse_field("InitProducerIdResponse.ongoing_txn_producer_epoch")
    out += _pack_ihqhx(item.throttle_time_ms, item.error_code, item.producer_id, item.producer_epoch)


def _write_init_producer_id_response_v6(item: InitProducerIdResponse, out: bytearray) -> None:
    out += _pack_ihqhqhx(item.throttle_time_ms, item.error_code, item.producer_id, item.producer_epoch, item.ongoing_txn_producer_id, item.ongoing_txn_producer_epoch)


InitProducerIdResponse.DECODERS = {
    0: _read_init_producer_id_response_v0,
    1: _read_init_producer_id_response_v0,
    2: _read_init_producer_id_response_v2,
    3: _read_init_producer_id_response_v2,
    4: _read_init_producer_id_response_v2,
    5: _read_init_producer_id_response_v2,
    6: _read_init_producer_id_response_v6,
}
InitProducerIdResponse.ENCODERS = {
    0: _write_init_producer_id_response_v0,
    1: _write_init_producer_id_response_v0,
    2: _write_init_producer_id_response_v2,
    3: _write_init_producer_id_response_v2,
    4: _write_init_producer_id_response_v2,
    5: _write_init_producer_id_response_v2,
    6: _write_init_producer_id_response_v6,
}
