"""Generated from schemas/describe_transactions.schema: DescribeTransactionsRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_strings,
)



class DescribeTransactionsRequest(Message):
    __slots__ = ("transactional_ids",)
    API_KEY = 65
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        transactional_ids: Sequence[str] = (),
    ) -> None:
        self.transactional_ids = transactional_ids


def _read_describe_transactions_request_v0(data: memoryview, at: int) -> tuple[DescribeTransactionsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    transactional_ids, at = read_compact_strings(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeTransactionsRequest(transactional_ids), at


def _write_describe_transactions_request_v0(item: DescribeTransactionsRequest, out: bytearray) -> None:
    if item.transactional_ids:
        out += uvarint(len(item.transactional_ids) + 1)
        write_compact_strings(item.transactional_ids, out)
    else:
        out.append(1)
    out.append(0)


DescribeTransactionsRequest.DECODERS = {
    0: _read_describe_transactions_request_v0,
}
DescribeTransactionsRequest.ENCODERS = {
    0: _write_describe_transactions_request_v0,
}
