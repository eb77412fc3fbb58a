"""Generated from schemas/delete_groups.schema: DeleteGroupsResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hB = Layout(">hB").unpack_from
_pack_hx = Layout(">hx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class DeleteGroupsResponse(Message):
    __slots__ = ("throttle_time_ms", "results",)
    API_KEY = 42
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DeletableGroupResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results


class DeletableGroupResult(Struct):
    __slots__ = ("group_id", "error_code",)

    def __init__(
        self,
        group_id: str = "",
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code


def _read_deletable_group_results_v0(data: memoryview, at: int, count: int) -> tuple[list[DeletableGroupResult], int]:
    items: list[DeletableGroupResult] = []
    for _ in range(count):
        group_id, at = read_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        items.append(DeletableGroupResult(group_id, error_code))
    return items, at


def _read_delete_groups_response_v0(data: memoryview, at: int) -> tuple[DeleteGroupsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 4)
    results, at = _read_deletable_group_results_v0(data, at, count) if count else ([], at)
    return DeleteGroupsResponse(throttle_time_ms, results), at


def _read_deletable_group_results_v2(data: memoryview, at: int, count: int) -> tuple[list[DeletableGroupResult], int]:
    items: list[DeletableGroupResult] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        error_code, more = _unpack_hB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(DeletableGroupResult(group_id, error_code))
    return items, at


def _read_delete_groups_response_v2(data: memoryview, at: int) -> tuple[DeleteGroupsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 4)
    results, at = _read_deletable_group_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteGroupsResponse(throttle_time_ms, results), at


def _write_deletable_group_results_v0(items: Sequence[DeletableGroupResult], out: bytearray) -> None:
    for item in items:
        write_string(item.group_id, out)
        out += _pack_h(item.error_code)


def _write_delete_groups_response_v0(item: DeleteGroupsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.results))
    if item.results:
        _write_deletable_group_results_v0(item.results, out)


def _write_deletable_group_results_v2(items: Sequence[DeletableGroupResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        out += _pack_hx(item.error_code)


def _write_delete_groups_response_v2(item: DeleteGroupsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_deletable_group_results_v2(item.results, out)
    else:
        out.append(1)
    out.append(0)


DeleteGroupsResponse.DECODERS = {
    0: _read_delete_groups_response_v0,
    1: _read_delete_groups_response_v0,
    2: _read_delete_groups_response_v2,
}
DeleteGroupsResponse.ENCODERS = {
    0: _write_delete_groups_response_v0,
    1: _write_delete_groups_response_v0,
    2: _write_delete_groups_response_v2,
}
