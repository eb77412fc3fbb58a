"""Generated from schemas/share_group_describe.schema: ShareGroupDescribeRequest, versions 1. Do not edit."""

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


class ShareGroupDescribeRequest(Message):
    __slots__ = ("group_ids", "include_authorized_operations",)
    API_KEY = 77
    VERSIONS = range(1, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = group_ids
        self.include_authorized_operations = include_authorized_operations


def _read_share_group_describe_request_v1(data: memoryview, at: int) -> tuple[ShareGroupDescribeRequest, int]:
    count, at = read_compact_count(data, at, 1)
    group_ids, at = read_compact_strings(data, at, count) if count else ([], at)
    include_authorized_operations, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return ShareGroupDescribeRequest(group_ids, include_authorized_operations), at


def _write_share_group_describe_request_v1(item: ShareGroupDescribeRequest, out: bytearray) -> None:
    if item.group_ids:
        out += uvarint(len(item.group_ids) + 1)
        write_compact_strings(item.group_ids, out)
    else:
        out.append(1)
    out += _pack_tx(item.include_authorized_operations)


ShareGroupDescribeRequest.DECODERS = {
    1: _read_share_group_describe_request_v1,
}
ShareGroupDescribeRequest.ENCODERS = {
    1: _write_share_group_describe_request_v1,
}
