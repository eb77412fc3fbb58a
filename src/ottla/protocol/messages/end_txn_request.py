"""Generated from schemas/end_txn.schema: EndTxnRequest, versions 0-5. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_string,
    read_string,
    skip_tags,
    write_compact_string,
    write_string,
)

_unpack_qht = Layout(">qh?").unpack_from
_pack_qht = Layout(">qh?").pack
_unpack_qhtB = Layout(">qh?B").unpack_from
_pack_qhtx = Layout(">qh?x").pack


class EndTxnRequest(Message):
    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "committed",)
    API_KEY = 26
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed


def _read_end_txn_request_v0(data: memoryview, at: int) -> tuple[EndTxnRequest, int]:
    transactional_id, at = read_string(data, at)
    producer_id, producer_epoch, committed = _unpack_qht(data, at)
    at += 11
    return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed), at


def _read_end_txn_request_v3(data: memoryview, at: int) -> tuple[EndTxnRequest, int]:
    transactional_id, at = read_compact_string(data, at)
    producer_id, producer_epoch, committed, more = _unpack_qhtB(data, at)
    at += 12
    if more:
        at = skip_tags(data, at - 1)
    return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed), at


def _write_end_txn_request_v0(item: EndTxnRequest, out: bytearray) -> None:
    write_string(item.transactional_id, out)
    out += _pack_qht(item.producer_id, item.producer_epoch, item.committed)


def _write_end_txn_request_v3(item: EndTxnRequest, out: bytearray) -> None:
    write_compact_string(item.transactional_id, out)
    out += _pack_qhtx(item.producer_id, item.producer_epoch, item.committed)


EndTxnRequest.DECODERS = {
    0: _read_end_txn_request_v0,
    1: _read_end_txn_request_v0,
    2: _read_end_txn_request_v0,
    3: _read_end_txn_request_v3,
    4: _read_end_txn_request_v3,
    5: _read_end_txn_request_v3,
}
EndTxnRequest.ENCODERS = {
    0: _write_end_txn_request_v0,
    1: _write_end_txn_request_v0,
    2: _write_end_txn_request_v0,
    3: _write_end_txn_request_v3,
    4: _write_end_txn_request_v3,
    5: _write_end_txn_request_v3,
}
