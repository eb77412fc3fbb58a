"""Generated from schemas/list_groups.schema: ListGroupsRequest, versions 0-5. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_strings,
)



class ListGroupsRequest(Message):
    __slots__ = ("states_filter", "types_filter",)
    API_KEY = 16
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        states_filter: Sequence[str] = (),
        types_filter: Sequence[str] = (),
    ) -> None:
        self.states_filter = states_filter
        self.types_filter = types_filter


def _read_list_groups_request_v0(data: memoryview, at: int) -> tuple[ListGroupsRequest, int]:
    return ListGroupsRequest((), ()), at


def _read_list_groups_request_v3(data: memoryview, at: int) -> tuple[ListGroupsRequest, int]:
    at = skip_tags(data, at) if data[at] else at + 1
    return ListGroupsRequest((), ()), at


def _read_list_groups_request_v4(data: memoryview, at: int) -> tuple[ListGroupsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    states_filter, at = read_compact_strings(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListGroupsRequest(states_filter, ()), at


def _read_list_groups_request_v5(data: memoryview, at: int) -> tuple[ListGroupsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    states_filter, at = read_compact_strings(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 1)
    types_filter, at = read_compact_strings(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListGroupsRequest(states_filter, types_filter), at


def _write_list_groups_request_v0(item: ListGroupsRequest, out: bytearray) -> None:
    if item.states_filter:
        refuse_field("ListGroupsRequest.states_filter")
    if item.types_filter:
        refuse_field("ListGroupsRequest.types_filter")


def _write_list_groups_request_v3(item: ListGroupsRequest, out: bytearray) -> None:
    if item.states_filter:
        refuse_field("ListGroupsRequest.states_filter")
    if item.types_filter:
        refuse_field("ListGroupsRequest.types_filter")
    out.append(0)


def _write_list_groups_request_v4(item: ListGroupsRequest, out: bytearray) -> None:
    if item.types_filter:
        refuse_field("ListGroupsRequest.types_filter")
    if item.states_filter:
        out += uvarint(len(item.states_filter) + 1)
        write_compact_strings(item.states_filter, out)
    else:
        out.append(1)
    out.append(0)


def _write_list_groups_request_v5(item: ListGroupsRequest, out: bytearray) -> None:
    if item.states_filter:
        out += uvarint(len(item.states_filter) + 1)
        write_compact_strings(item.states_filter, out)
    else:
        out.append(1)
    if item.types_filter:
        out += uvarint(len(item.types_filter) + 1)
        write_compact_strings(item.types_filter, out)
    else:
        out.append(1)
    out.append(0)


ListGroupsRequest.DECODERS = {
    0: _read_list_groups_request_v0,
    1: _read_list_groups_request_v0,
    2: _read_list_groups_request_v0,
    3: _read_list_groups_request_v3,
    4: _read_list_groups_request_v4,
    5: _read_list_groups_request_v5,
}
ListGroupsRequest.ENCODERS = {
    0: _write_list_groups_request_v0,
    1: _write_list_groups_request_v0,
    2: _write_list_groups_request_v0,
    3: _write_list_groups_request_v3,
    4: _write_list_groups_request_v4,
    5: _write_list_groups_request_v5,
}
