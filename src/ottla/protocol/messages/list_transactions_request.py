"""Generated from schemas/list_transactions.schema: ListTransactionsRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_numbers,
)

_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_unpack_qB = Layout(">qB").unpack_from
_pack_qx = Layout(">qx").pack


class ListTransactionsRequest(Message):
    __slots__ = ("state_filters", "producer_id_filters", "duration_filter", "transactional_id_pattern",)
    API_KEY = 66
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        state_filters: Sequence[str] = (),
        producer_id_filters: Sequence[int] = (),
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters = state_filters
        self.producer_id_filters = producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern


def _read_list_transactions_request_v0(data: memoryview, at: int) -> tuple[ListTransactionsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    state_filters, at = read_compact_strings(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 8)
    producer_id_filters, at = read_numbers(data, at, count, "q") if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListTransactionsRequest(state_filters, producer_id_filters, -1, None), at


def _read_list_transactions_request_v1(data: memoryview, at: int) -> tuple[ListTransactionsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    state_filters, at = read_compact_strings(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 8)
    producer_id_filters, at = read_numbers(data, at, count, "q") if count else ([], at)
    duration_filter, more = _unpack_qB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter, None), at


def _read_list_transactions_request_v2(data: memoryview, at: int) -> tuple[ListTransactionsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    state_filters, at = read_compact_strings(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 8)
    producer_id_filters, at = read_numbers(data, at, count, "q") if count else ([], at)
    (duration_filter,) = _unpack_q(data, at)
    at += 8
    transactional_id_pattern: str | None = None
    if data[at]:
        transactional_id_pattern, at = read_compact_string(data, at)
    else:
        at += 1
    at = skip_tags(data, at) if data[at] else at + 1
    return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter, transactional_id_pattern), at


def _write_list_transactions_request_v0(item: ListTransactionsRequest, out: bytearray) -> None:
    if item.duration_filter != -1:
        refuse_field("ListTransactionsRequest.duration_filter")
    if item.transactional_id_pattern is not None:
        refuse_field("ListTransactionsRequest.transactional_id_pattern")
    if item.state_filters:
        out += uvarint(len(item.state_filters) + 1)
        write_compact_strings(item.state_filters, out)
    else:
        out.append(1)
    if item.producer_id_filters:
        out += uvarint(len(item.producer_id_filters) + 1)
        write_numbers(item.producer_id_filters, "q", out)
    else:
        out.append(1)
    out.append(0)


def _write_list_transactions_request_v1(item: ListTransactionsRequest, out: bytearray) -> None:
    if item.transactional_id_pattern is not None:
        refuse_field("ListTransactionsRequest.transactional_id_pattern")
    if item.state_filters:
        out += uvarint(len(item.state_filters) + 1)
        write_compact_strings(item.state_filters, out)
    else:
        out.append(1)
    if item.producer_id_filters:
        out += uvarint(len(item.producer_id_filters) + 1)
        write_numbers(item.producer_id_filters, "q", out)
    else:
        out.append(1)
    out += _pack_qx(item.duration_filter)


def _write_list_transactions_request_v2(item: ListTransactionsRequest, out: bytearray) -> None:
    if item.state_filters:
        out += uvarint(len(item.state_filters) + 1)
        write_compact_strings(item.state_filters, out)
    else:
        out.append(1)
    if item.producer_id_filters:
        out += uvarint(len(item.producer_id_filters) + 1)
        write_numbers(item.producer_id_filters, "q", out)
    else:
        out.append(1)
    out += _pack_q(item.duration_filter)
    if item.transactional_id_pattern is None:
        out.append(0)
    else:
        write_compact_string(item.transactional_id_pattern, out)
    out.append(0)


ListTransactionsRequest.DECODERS = {
    0: _read_list_transactions_request_v0,
    1: _read_list_transactions_request_v1,
    2: _read_list_transactions_request_v2,
}
ListTransactionsRequest.ENCODERS = {
    0: _write_list_transactions_request_v0,
    1: _write_list_transactions_request_v1,
    2: _write_list_transactions_request_v2,
}
