"""Generated from schemas/add_partitions_to_txn.schema: AddPartitionsToTxnRequest, versions 0-5. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_numbers,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_string,
)

_pack_i = Layout(">i").pack
_unpack_qh = Layout(">qh").unpack_from
_pack_qh = Layout(">qh").pack
_unpack_qht = Layout(">qh?").unpack_from
_pack_qht = Layout(">qh?").pack
_pack_qhi = Layout(">qhi").pack


class AddPartitionsToTxnRequest(Message):
    __slots__ = ("transactions", "v3_and_below_transactional_id", "v3_and_below_producer_id", "v3_and_below_producer_epoch", "v3_and_below_topics",)
    API_KEY = 24
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        transactions: Sequence[AddPartitionsToTxnTransaction] = (),
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactions = transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = v3_and_below_topics


class AddPartitionsToTxnTransaction(Struct):
    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "verify_only", "topics",)

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = topics


class AddPartitionsToTxnTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_add_partitions_to_txn_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnTopic], int]:
    items: list[AddPartitionsToTxnTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(AddPartitionsToTxnTopic(name, partitions))
    return items, at


def _read_add_partitions_to_txn_request_v0(data: memoryview, at: int) -> tuple[AddPartitionsToTxnRequest, int]:
    v3_and_below_transactional_id, at = read_string(data, at)
    v3_and_below_producer_id, v3_and_below_producer_epoch = _unpack_qh(data, at)
    at += 10
    count, at = read_count(data, at, 6)
    v3_and_below_topics, at = _read_add_partitions_to_txn_topics_v0(data, at, count) if count else ([], at)
    return AddPartitionsToTxnRequest((), v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics), at


def _read_add_partitions_to_txn_topics_v3(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnTopic], int]:
    items: list[AddPartitionsToTxnTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AddPartitionsToTxnTopic(name, partitions))
    return items, at


def _read_add_partitions_to_txn_request_v3(data: memoryview, at: int) -> tuple[AddPartitionsToTxnRequest, int]:
    v3_and_below_transactional_id, at = read_compact_string(data, at)
    v3_and_below_producer_id, v3_and_below_producer_epoch = _unpack_qh(data, at)
    at += 10
    count, at = read_compact_count(data, at, 3)
    v3_and_below_topics, at = _read_add_partitions_to_txn_topics_v3(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AddPartitionsToTxnRequest((), v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics), at


def _read_add_partitions_to_txn_transactions_v4(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnTransaction], int]:
    items: list[AddPartitionsToTxnTransaction] = []
    for _ in range(count):
        transactional_id, at = read_compact_string(data, at)
        producer_id, producer_epoch, verify_only = _unpack_qht(data, at)
        at += 11
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_add_partitions_to_txn_topics_v3(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AddPartitionsToTxnTransaction(transactional_id, producer_id, producer_epoch, verify_only, topics))
    return items, at


def _read_add_partitions_to_txn_request_v4(data: memoryview, at: int) -> tuple[AddPartitionsToTxnRequest, int]:
    count, at = read_compact_count(data, at, 14)
    transactions, at = _read_add_partitions_to_txn_transactions_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AddPartitionsToTxnRequest(transactions, "", 0, 0, ()), at


def _write_add_partitions_to_txn_topics_v0(items: Sequence[AddPartitionsToTxnTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            write_numbers(item.partitions, "i", out)


def _write_add_partitions_to_txn_request_v0(item: AddPartitionsToTxnRequest, out: bytearray) -> None:
    if item.transactions:
        refuse_field("AddPartitionsToTxnRequest.transactions")
    write_string(item.v3_and_below_transactional_id, out)
    out += _pack_qhi(item.v3_and_below_producer_id, item.v3_and_below_producer_epoch, len(item.v3_and_below_topics))
    if item.v3_and_below_topics:
        _write_add_partitions_to_txn_topics_v0(item.v3_and_below_topics, out)


def _write_add_partitions_to_txn_topics_v3(items: Sequence[AddPartitionsToTxnTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_add_partitions_to_txn_request_v3(item: AddPartitionsToTxnRequest, out: bytearray) -> None:
    if item.transactions:
        refuse_field("AddPartitionsToTxnRequest.transactions")
    write_compact_string(item.v3_and_below_transactional_id, out)
    out += _pack_qh(item.v3_and_below_producer_id, item.v3_and_below_producer_epoch)
    if item.v3_and_below_topics:
        out += uvarint(len(item.v3_and_below_topics) + 1)
        _write_add_partitions_to_txn_topics_v3(item.v3_and_below_topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_add_partitions_to_txn_transactions_v4(items: Sequence[AddPartitionsToTxnTransaction], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.transactional_id, out)
        out += _pack_qht(item.producer_id, item.producer_epoch, item.verify_only)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_add_partitions_to_txn_topics_v3(item.topics, out)
        else:
            out.append(1)
        out.append(0)


def _write_add_partitions_to_txn_request_v4(item: AddPartitionsToTxnRequest, out: bytearray) -> None:
    if item.v3_and_below_transactional_id != "":
        refuse_field("AddPartitionsToTxnRequest.v3_and_below_transactional_id")
    if item.v3_and_below_producer_id != 0:
        refuse_field("AddPartitionsToTxnRequest.v3_and_below_producer_id")
    if item.v3_and_below_producer_epoch != 0:
        refuse_field("AddPartitionsToTxnRequest.v3_and_below_producer_epoch")
    if item.v3_and_below_topics:
        refuse_field("AddPartitionsToTxnRequest.v3_and_below_topics")
    if item.transactions:
        out += uvarint(len(item.transactions) + 1)
        _write_add_partitions_to_txn_transactions_v4(item.transactions, out)
    else:
        out.append(1)
    out.append(0)


AddPartitionsToTxnRequest.DECODERS = {
    0: _read_add_partitions_to_txn_request_v0,
    1: _read_add_partitions_to_txn_request_v0,
    2: _read_add_partitions_to_txn_request_v0,
    3: _read_add_partitions_to_txn_request_v3,
    4: _read_add_partitions_to_txn_request_v4,
    5: _read_add_partitions_to_txn_request_v4,
}
AddPartitionsToTxnRequest.ENCODERS = {
    0: _write_add_partitions_to_txn_request_v0,
    1: _write_add_partitions_to_txn_request_v0,
    2: _write_add_partitions_to_txn_request_v0,
    3: _write_add_partitions_to_txn_request_v3,
    4: _write_add_partitions_to_txn_request_v4,
    5: _write_add_partitions_to_txn_request_v4,
}
