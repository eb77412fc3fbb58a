"""Generated from schemas/init_producer_id.schema: InitProducerIdRequest, versions 0-6. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_compact_string,
    read_nullable_string,
    skip_tags,
    write_compact_string,
    write_nullable_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_unpack_iqhttB = Layout(">iqh??B").unpack_from
_pack_iqhttx = Layout(">iqh??x").pack
_unpack_iqhB = Layout(">iqhB").unpack_from
_pack_iqhx = Layout(">iqhx").pack
_pack_ix = Layout(">ix").pack


class InitProducerIdRequest(Message):
    __slots__ = ("transactional_id", "transaction_timeout_ms", "producer_id", "producer_epoch", "enable2_pc", "keep_prepared_txn",)
    API_KEY = 22
    VERSIONS = range(0, 7)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn


def _read_init_producer_id_request_v0(data: memoryview, at: int) -> tuple[InitProducerIdRequest, int]:
    transactional_id, at = read_nullable_string(data, at)
    (transaction_timeout_ms,) = _unpack_i(data, at)
    at += 4
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms, -1, -1, False, False), at


def _read_init_producer_id_request_v2(data: memoryview, at: int) -> tuple[InitProducerIdRequest, int]:
    transactional_id: str | None = None
    if data[at]:
        transactional_id, at = read_compact_string(data, at)
    else:
        at += 1
    transaction_timeout_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms, -1, -1, False, False), at


def _read_init_producer_id_request_v3(data: memoryview, at: int) -> tuple[InitProducerIdRequest, int]:
    transactional_id: str | None = None
    if data[at]:
        transactional_id, at = read_compact_string(data, at)
    else:
        at += 1
    transaction_timeout_ms, producer_id, producer_epoch, more = _unpack_iqhB(data, at)
    at += 15
    if more:
        at = skip_tags(data, at - 1)
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms, producer_id, producer_epoch, False, False), at


def _read_init_producer_id_request_v6(data: memoryview, at: int) -> tuple[InitProducerIdRequest, int]:
    transactional_id: str | None = None
    if data[at]:
        transactional_id, at = read_compact_string(data, at)
    else:
        at += 1
    transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn, more = _unpack_iqhttB(data, at)
    at += 17
    if more:
        at = skip_tags(data, at - 1)
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn), at


def _write_init_producer_id_request_v0(item: InitProducerIdRequest, out: bytearray) -> None:
    if item.producer_id != -1:
        refuse_field("InitProducerIdRequest.producer_id")
    if item.producer_epoch != -1:
        refuse_field("InitProducerIdRequest.producer_epoch")
    if item.enable2_pc:
        refuse_field("InitProducerIdRequest.enable2_pc")
    if item.keep_prepared_txn:
        refuse_field("InitProducerIdRequest.keep_prepared_txn")
    write_nullable_string(item.transactional_id, out)
    out += _pack_i(item.transaction_timeout_ms)


def _write_init_producer_id_request_v2(item: InitProducerIdRequest, out: bytearray) -> None:
    if item.producer_id != -1:
        refuse_field("InitProducerIdRequest.producer_id")
    if item.producer_epoch != -1:
        refuse_field("InitProducerIdRequest.producer_epoch")
    if item.enable2_pc:
        refuse_field("InitProducerIdRequest.enable2_pc")
    if item.keep_prepared_txn:
        refuse_field("InitProducerIdRequest.keep_prepared_txn")
    if item.transactional_id is None:
        out.append(0)
    else:
        write_compact_string(item.transactional_id, out)
    out += _pack_ix(item.transaction_timeout_ms)


def _write_init_producer_id_request_v3(item: InitProducerIdRequest, out: bytearray) -> None:
    if item.enable2_pc:
        refuse_field("InitProducerIdRequest.enable2_pc")
    if item.keep_prepared_txn:
        refuse_field("InitProducerIdRequest.keep_prepared_txn")
    if item.transactional_id is None:
        out.append(0)
    else:
        write_compact_string(item.transactional_id, out)
    out += _pack_iqhx(item.transaction_timeout_ms, item.producer_id, item.producer_epoch)


def _write_init_producer_id_request_v6(item: InitProducerIdRequest, out: bytearray) -> None:
    if item.transactional_id is None:
        out.append(0)
    else:
        write_compact_string(item.transactional_id, out)
    out += _pack_iqhttx(item.transaction_timeout_ms, item.producer_id, item.producer_epoch, item.enable2_pc, item.keep_prepared_txn)


InitProducerIdRequest.DECODERS = {
    0: _read_init_producer_id_request_v0,
    1: _read_init_producer_id_request_v0,
    2: _read_init_producer_id_request_v2,
    3: _read_init_producer_id_request_v3,
    4: _read_init_producer_id_request_v3,
    5: _read_init_producer_id_request_v3,
    6: _read_init_producer_id_request_v6,
}
InitProducerIdRequest.ENCODERS = {
    0: _write_init_producer_id_request_v0,
    1: _write_init_producer_id_request_v0,
    2: _write_init_producer_id_request_v2,
    3: _write_init_producer_id_request_v3,
    4: _write_init_producer_id_request_v3,
    5: _write_init_producer_id_request_v3,
    6: _write_init_producer_id_request_v6,
}
