"""Generated from schemas/data/transaction_log_value.schema: TransactionLogValue, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_count,
    read_nullable_count,
    read_numbers,
    read_string,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_string,
    write_tags,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_pack_i = Layout(">i").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_unpack_qhib = Layout(">qhib").unpack_from
_pack_qhib = Layout(">qhib").pack
_pack_qhibi = Layout(">qhibi").pack
_unpack_qq = Layout(">qq").unpack_from
_pack_qq = Layout(">qq").pack


class TransactionLogValue(Message):
    __slots__ = ("producer_id", "previous_producer_id", "next_producer_id", "producer_epoch", "next_producer_epoch", "transaction_timeout_ms", "transaction_status", "transaction_partitions", "transaction_last_update_timestamp_ms", "transaction_start_timestamp_ms", "client_transaction_version",)
    RECORD_TYPE = 0
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: Sequence[PartitionsSchema] | None = (),
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = transaction_partitions
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version


class PartitionsSchema(Struct):
    __slots__ = ("topic", "partition_ids",)

    def __init__(
        self,
        topic: str = "",
        partition_ids: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partition_ids = partition_ids


def _read_partitions_schemas_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionsSchema], int]:
    items: list[PartitionsSchema] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partition_ids, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(PartitionsSchema(topic, partition_ids))
    return items, at


def _read_transaction_log_value_v0(data: memoryview, at: int) -> tuple[TransactionLogValue, int]:
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status = _unpack_qhib(data, at)
    at += 15
    count, at = read_nullable_count(data, at, 6)
    transaction_partitions: list[PartitionsSchema] | None = None
    if count >= 0:
        transaction_partitions, at = _read_partitions_schemas_v0(data, at, count)
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = _unpack_qq(data, at)
    at += 16
    return TransactionLogValue(producer_id, -1, -1, producer_epoch, -1, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, 0), at


def _read_partitions_schemas_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionsSchema], int]:
    items: list[PartitionsSchema] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partition_ids, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionsSchema(topic, partition_ids))
    return items, at


def _read_transaction_log_value_v1(data: memoryview, at: int) -> tuple[TransactionLogValue, int]:
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status = _unpack_qhib(data, at)
    at += 15
    count, at = read_compact_nullable_count(data, at, 3)
    transaction_partitions: list[PartitionsSchema] | None = None
    if count >= 0:
        transaction_partitions, at = _read_partitions_schemas_v1(data, at, count)
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = _unpack_qq(data, at)
    at += 16
    previous_producer_id: int = -1
    next_producer_id: int = -1
    client_transaction_version: int = 0
    next_producer_epoch: int = -1
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                (previous_producer_id,) = _unpack_q(data, at)
                at += 8
            elif tag == 1:
                (next_producer_id,) = _unpack_q(data, at)
                at += 8
            elif tag == 2:
                (client_transaction_version,) = _unpack_h(data, at)
                at += 2
            elif tag == 3:
                (next_producer_epoch,) = _unpack_h(data, at)
                at += 2
            else:
                at = end
            check_tag_end(tag, at, end)
    return TransactionLogValue(producer_id, previous_producer_id, next_producer_id, producer_epoch, next_producer_epoch, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, client_transaction_version), at


def _write_partitions_schemas_v0(items: Sequence[PartitionsSchema], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partition_ids))
        if item.partition_ids:
            write_numbers(item.partition_ids, "i", out)


def _write_transaction_log_value_v0(item: TransactionLogValue, out: bytearray) -> None:
    if item.previous_producer_id != -1:
        refuse_field("TransactionLogValue.previous_producer_id")
    if item.next_producer_id != -1:
        refuse_field("TransactionLogValue.next_producer_id")
    if item.next_producer_epoch != -1:
        refuse_field("TransactionLogValue.next_producer_epoch")
    if item.client_transaction_version != 0:
        refuse_field("TransactionLogValue.client_transaction_version")
    out += _pack_qhibi(item.producer_id, item.producer_epoch, item.transaction_timeout_ms, item.transaction_status, -1 if item.transaction_partitions is None else len(item.transaction_partitions))
    if item.transaction_partitions:
        _write_partitions_schemas_v0(item.transaction_partitions, out)
    out += _pack_qq(item.transaction_last_update_timestamp_ms, item.transaction_start_timestamp_ms)


def _write_partitions_schemas_v1(items: Sequence[PartitionsSchema], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partition_ids:
            out += uvarint(len(item.partition_ids) + 1)
            write_numbers(item.partition_ids, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_transaction_log_value_v1(item: TransactionLogValue, out: bytearray) -> None:
    out += _pack_qhib(item.producer_id, item.producer_epoch, item.transaction_timeout_ms, item.transaction_status)
    if item.transaction_partitions:
        out += uvarint(len(item.transaction_partitions) + 1)
        _write_partitions_schemas_v1(item.transaction_partitions, out)
    else:
        out.append(0 if item.transaction_partitions is None else 1)
    out += _pack_qq(item.transaction_last_update_timestamp_ms, item.transaction_start_timestamp_ms)
    if not (item.previous_producer_id != -1 or item.next_producer_id != -1 or item.client_transaction_version != 0 or item.next_producer_epoch != -1):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.previous_producer_id != -1:
            value = bytearray()
            value += _pack_q(item.previous_producer_id)
            tags.append((0, value))
        if item.next_producer_id != -1:
            value = bytearray()
            value += _pack_q(item.next_producer_id)
            tags.append((1, value))
        if item.client_transaction_version != 0:
            value = bytearray()
            value += _pack_h(item.client_transaction_version)
            tags.append((2, value))
        if item.next_producer_epoch != -1:
            value = bytearray()
            value += _pack_h(item.next_producer_epoch)
            tags.append((3, value))
        write_tags(tags, out)


TransactionLogValue.DECODERS = {
    0: _read_transaction_log_value_v0,
    1: _read_transaction_log_value_v1,
}
TransactionLogValue.ENCODERS = {
    0: _write_transaction_log_value_v0,
    1: _write_transaction_log_value_v1,
}
