"""Generated from schemas/allocate_producer_ids.schema: AllocateProducerIdsRequest, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack


class AllocateProducerIdsRequest(Message):
    __slots__ = ("broker_id", "broker_epoch",)
    API_KEY = 67
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


def _read_allocate_producer_ids_request_v0(data: memoryview, at: int) -> tuple[AllocateProducerIdsRequest, int]:
    broker_id, broker_epoch, more = _unpack_iqB(data, at)
    at += 13
    if more:
        at = skip_tags(data, at - 1)
    return AllocateProducerIdsRequest(broker_id, broker_epoch), at


def _write_allocate_producer_ids_request_v0(item: AllocateProducerIdsRequest, out: bytearray) -> None:
    out += _pack_iqx(item.broker_id, item.broker_epoch)


AllocateProducerIdsRequest.DECODERS = {
    0: _read_allocate_producer_ids_request_v0,
}
AllocateProducerIdsRequest.ENCODERS = {
    0: _write_allocate_producer_ids_request_v0,
}
