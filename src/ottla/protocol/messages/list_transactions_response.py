"""Generated from schemas/list_transactions.schema: ListTransactionsResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
)

_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack


class ListTransactionsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "unknown_state_filters", "transaction_states",)
    API_KEY = 66
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: Sequence[str] = (),
        transaction_states: Sequence[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = unknown_state_filters
        self.transaction_states = transaction_states


class TransactionState(Struct):
    __slots__ = ("transactional_id", "producer_id", "transaction_state",)

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state


def _read_transaction_states_v0(data: memoryview, at: int, count: int) -> tuple[list[TransactionState], int]:
    items: list[TransactionState] = []
    for _ in range(count):
        transactional_id, at = read_compact_string(data, at)
        (producer_id,) = _unpack_q(data, at)
        at += 8
        transaction_state, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TransactionState(transactional_id, producer_id, transaction_state))
    return items, at


def _read_list_transactions_response_v0(data: memoryview, at: int) -> tuple[ListTransactionsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 1)
    unknown_state_filters, at = read_compact_strings(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 11)
    transaction_states, at = _read_transaction_states_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListTransactionsResponse(throttle_time_ms, error_code, unknown_state_filters, transaction_states), at


def _write_transaction_states_v0(items: Sequence[TransactionState], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.transactional_id, out)
        out += _pack_q(item.producer_id)
        write_compact_string(item.transaction_state, out)
        out.append(0)


def _write_list_transactions_response_v0(item: ListTransactionsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.unknown_state_filters:
        out += uvarint(len(item.unknown_state_filters) + 1)
        write_compact_strings(item.unknown_state_filters, out)
    else:
        out.append(1)
    if item.transaction_states:
        out += uvarint(len(item.transaction_states) + 1)
        _write_transaction_states_v0(item.transaction_states, out)
    else:
        out.append(1)
    out.append(0)


ListTransactionsResponse.DECODERS = {
    0: _read_list_transactions_response_v0,
    1: _read_list_transactions_response_v0,
    2: _read_list_transactions_response_v0,
}
ListTransactionsResponse.ENCODERS = {
    0: _write_list_transactions_response_v0,
    1: _write_list_transactions_response_v0,
    2: _write_list_transactions_response_v0,
}
