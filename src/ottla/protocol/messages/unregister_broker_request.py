"""Generated from schemas/unregister_broker.schema: UnregisterBrokerRequest, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class UnregisterBrokerRequest(Message):
    __slots__ = ("broker_id",)
    API_KEY = 64
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        broker_id: int = 0,
    ) -> None:
        self.broker_id = broker_id


def _read_unregister_broker_request_v0(data: memoryview, at: int) -> tuple[UnregisterBrokerRequest, int]:
    broker_id, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return UnregisterBrokerRequest(broker_id), at


def _write_unregister_broker_request_v0(item: UnregisterBrokerRequest, out: bytearray) -> None:
    out += _pack_ix(item.broker_id)


UnregisterBrokerRequest.DECODERS = {
    0: _read_unregister_broker_request_v0,
}
UnregisterBrokerRequest.ENCODERS = {
    0: _write_unregister_broker_request_v0,
}
