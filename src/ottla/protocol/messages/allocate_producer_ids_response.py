"""Generated from schemas/allocate_producer_ids.schema: AllocateProducerIdsResponse, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_ihqiB = Layout(">ihqiB").unpack_from
_pack_ihqix = Layout(">ihqix").pack


class AllocateProducerIdsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "producer_id_start", "producer_id_len",)
    API_KEY = 67
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len


def _read_allocate_producer_ids_response_v0(data: memoryview, at: int) -> tuple[AllocateProducerIdsResponse, int]:
    throttle_time_ms, error_code, producer_id_start, producer_id_len, more = _unpack_ihqiB(data, at)
    at += 19
    if more:
        at = skip_tags(data, at - 1)
    return AllocateProducerIdsResponse(throttle_time_ms, error_code, producer_id_start, producer_id_len), at


def _write_allocate_producer_ids_response_v0(item: AllocateProducerIdsResponse, out: bytearray) -> None:
    out += _pack_ihqix(item.throttle_time_ms, item.error_code, item.producer_id_start, item.producer_id_len)


AllocateProducerIdsResponse.DECODERS = {
    0: _read_allocate_producer_ids_response_v0,
}
AllocateProducerIdsResponse.ENCODERS = {
    0: _write_allocate_producer_ids_response_v0,
}
