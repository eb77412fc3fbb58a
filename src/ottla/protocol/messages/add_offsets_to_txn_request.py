"""Generated from schemas/add_offsets_to_txn.schema: AddOffsetsToTxnRequest, versions 0-4. Do not edit."""

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

_unpack_qh = Layout(">qh").unpack_from
_pack_qh = Layout(">qh").pack


class AddOffsetsToTxnRequest(Message):
    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "group_id",)
    API_KEY = 25
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id


def _read_add_offsets_to_txn_request_v0(data: memoryview, at: int) -> tuple[AddOffsetsToTxnRequest, int]:
    transactional_id, at = read_string(data, at)
    producer_id, producer_epoch = _unpack_qh(data, at)
    at += 10
    group_id, at = read_string(data, at)
    return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id), at


def _read_add_offsets_to_txn_request_v3(data: memoryview, at: int) -> tuple[AddOffsetsToTxnRequest, int]:
    transactional_id, at = read_compact_string(data, at)
    producer_id, producer_epoch = _unpack_qh(data, at)
    at += 10
    group_id, at = read_compact_string(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id), at


def _write_add_offsets_to_txn_request_v0(item: AddOffsetsToTxnRequest, out: bytearray) -> None:
    write_string(item.transactional_id, out)
    out += _pack_qh(item.producer_id, item.producer_epoch)
    write_string(item.group_id, out)


def _write_add_offsets_to_txn_request_v3(item: AddOffsetsToTxnRequest, out: bytearray) -> None:
    write_compact_string(item.transactional_id, out)
    out += _pack_qh(item.producer_id, item.producer_epoch)
    write_compact_string(item.group_id, out)
    out.append(0)


AddOffsetsToTxnRequest.DECODERS = {
    0: _read_add_offsets_to_txn_request_v0,
    1: _read_add_offsets_to_txn_request_v0,
    2: _read_add_offsets_to_txn_request_v0,
    3: _read_add_offsets_to_txn_request_v3,
    4: _read_add_offsets_to_txn_request_v3,
}
AddOffsetsToTxnRequest.ENCODERS = {
    0: _write_add_offsets_to_txn_request_v0,
    1: _write_add_offsets_to_txn_request_v0,
    2: _write_add_offsets_to_txn_request_v0,
    3: _write_add_offsets_to_txn_request_v3,
    4: _write_add_offsets_to_txn_request_v3,
}
