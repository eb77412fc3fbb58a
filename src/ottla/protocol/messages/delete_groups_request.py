"""Generated from schemas/delete_groups.schema: DeleteGroupsRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_strings,
    read_count,
    read_strings,
    skip_tags,
    uvarint,
    write_compact_strings,
    write_strings,
)

_pack_i = Layout(">i").pack


class DeleteGroupsRequest(Message):
    __slots__ = ("groups_names",)
    API_KEY = 42
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        groups_names: Sequence[str] = (),
    ) -> None:
        self.groups_names = groups_names


def _read_delete_groups_request_v0(data: memoryview, at: int) -> tuple[DeleteGroupsRequest, int]:
    count, at = read_count(data, at, 2)
    groups_names, at = read_strings(data, at, count) if count else ([], at)
    return DeleteGroupsRequest(groups_names), at


def _read_delete_groups_request_v2(data: memoryview, at: int) -> tuple[DeleteGroupsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    groups_names, at = read_compact_strings(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteGroupsRequest(groups_names), at


def _write_delete_groups_request_v0(item: DeleteGroupsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.groups_names))
    if item.groups_names:
        write_strings(item.groups_names, out)


def _write_delete_groups_request_v2(item: DeleteGroupsRequest, out: bytearray) -> None:
    if item.groups_names:
        out += uvarint(len(item.groups_names) + 1)
        write_compact_strings(item.groups_names, out)
    else:
        out.append(1)
    out.append(0)


DeleteGroupsRequest.DECODERS = {
    0: _read_delete_groups_request_v0,
    1: _read_delete_groups_request_v0,
    2: _read_delete_groups_request_v2,
}
DeleteGroupsRequest.ENCODERS = {
    0: _write_delete_groups_request_v0,
    1: _write_delete_groups_request_v0,
    2: _write_delete_groups_request_v2,
}
