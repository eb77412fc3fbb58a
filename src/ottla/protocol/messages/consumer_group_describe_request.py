"""Generated from schemas/consumer_group_describe.schema: ConsumerGroupDescribeRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_strings,
)

_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack


class ConsumerGroupDescribeRequest(Message):
    __slots__ = ("group_ids", "include_authorized_operations",)
    API_KEY = 69
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = group_ids
        self.include_authorized_operations = include_authorized_operations


def _read_consumer_group_describe_request_v0(data: memoryview, at: int) -> tuple[ConsumerGroupDescribeRequest, int]:
    count, at = read_compact_count(data, at, 1)
    group_ids, at = read_compact_strings(data, at, count) if count else ([], at)
    include_authorized_operations, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return ConsumerGroupDescribeRequest(group_ids, include_authorized_operations), at


def _write_consumer_group_describe_request_v0(item: ConsumerGroupDescribeRequest, out: bytearray) -> None:
    if item.group_ids:
        out += uvarint(len(item.group_ids) + 1)
        write_compact_strings(item.group_ids, out)
    else:
        out.append(1)
    out += _pack_tx(item.include_authorized_operations)


ConsumerGroupDescribeRequest.DECODERS = {
    0: _read_consumer_group_describe_request_v0,
    1: _read_consumer_group_describe_request_v0,
}
ConsumerGroupDescribeRequest.ENCODERS = {
    0: _write_consumer_group_describe_request_v0,
    1: _write_consumer_group_describe_request_v0,
}
