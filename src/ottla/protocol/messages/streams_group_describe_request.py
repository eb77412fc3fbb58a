"""Generated from schemas/streams_group_describe.schema: StreamsGroupDescribeRequest, versions 0. Do not edit."""

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


class StreamsGroupDescribeRequest(Message):
    __slots__ = ("group_ids", "include_authorized_operations",)
    API_KEY = 89
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = group_ids
        self.include_authorized_operations = include_authorized_operations


def _read_streams_group_describe_request_v0(data: memoryview, at: int) -> tuple[StreamsGroupDescribeRequest, int]:
    count, at = read_compact_count(data, at, 1)
    group_ids, at = read_compact_strings(data, at, count) if count else ([], at)
    include_authorized_operations, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return StreamsGroupDescribeRequest(group_ids, include_authorized_operations), at


def _write_streams_group_describe_request_v0(item: StreamsGroupDescribeRequest, out: bytearray) -> None:
    if item.group_ids:
        out += uvarint(len(item.group_ids) + 1)
        write_compact_strings(item.group_ids, out)
    else:
        out.append(1)
    out += _pack_tx(item.include_authorized_operations)


StreamsGroupDescribeRequest.DECODERS = {
    0: _read_streams_group_describe_request_v0,
}
StreamsGroupDescribeRequest.ENCODERS = {
    0: _write_streams_group_describe_request_v0,
}
