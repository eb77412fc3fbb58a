"""Generated from schemas/describe_transactions.schema: DescribeTransactionsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iqqh = Layout(">iqqh").unpack_from
_pack_iqqh = Layout(">iqqh").pack


class DescribeTransactionsResponse(Message):
    __slots__ = ("throttle_time_ms", "transaction_states",)
    API_KEY = 65
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        transaction_states: Sequence[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = transaction_states


class TopicData(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class TransactionState(Struct):
    __slots__ = ("error_code", "transactional_id", "transaction_state", "transaction_timeout_ms", "transaction_start_time_ms", "producer_id", "producer_epoch", "topics",)

    def __init__(
        self,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = topics


def _read_topic_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicData(topic, partitions))
    return items, at


def _read_transaction_states_v0(data: memoryview, at: int, count: int) -> tuple[list[TransactionState], int]:
    items: list[TransactionState] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        transactional_id, at = read_compact_string(data, at)
        transaction_state, at = read_compact_string(data, at)
        transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch = _unpack_iqqh(data, at)
        at += 22
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_topic_datas_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TransactionState(error_code, transactional_id, transaction_state, transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch, topics))
    return items, at


def _read_describe_transactions_response_v0(data: memoryview, at: int) -> tuple[DescribeTransactionsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 28)
    transaction_states, at = _read_transaction_states_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeTransactionsResponse(throttle_time_ms, transaction_states), at


def _write_topic_datas_v0(items: Sequence[TopicData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_transaction_states_v0(items: Sequence[TransactionState], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_compact_string(item.transactional_id, out)
        write_compact_string(item.transaction_state, out)
        out += _pack_iqqh(item.transaction_timeout_ms, item.transaction_start_time_ms, item.producer_id, item.producer_epoch)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_topic_datas_v0(item.topics, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_transactions_response_v0(item: DescribeTransactionsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.transaction_states:
        out += uvarint(len(item.transaction_states) + 1)
        _write_transaction_states_v0(item.transaction_states, out)
    else:
        out.append(1)
    out.append(0)


DescribeTransactionsResponse.DECODERS = {
    0: _read_describe_transactions_response_v0,
}
DescribeTransactionsResponse.ENCODERS = {
    0: _write_describe_transactions_response_v0,
}
