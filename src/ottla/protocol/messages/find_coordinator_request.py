"""Generated from schemas/find_coordinator.schema: FindCoordinatorRequest, versions 0-6. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_string,
)

_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_bB = Layout(">bB").unpack_from
_pack_bx = Layout(">bx").pack


class FindCoordinatorRequest(Message):
    __slots__ = ("key", "key_type", "coordinator_keys",)
    API_KEY = 10
    VERSIONS = range(0, 7)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: Sequence[str] = (),
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = coordinator_keys


def _read_find_coordinator_request_v0(data: memoryview, at: int) -> tuple[FindCoordinatorRequest, int]:
    key, at = read_string(data, at)
    return FindCoordinatorRequest(key, 0, ()), at


def _read_find_coordinator_request_v1(data: memoryview, at: int) -> tuple[FindCoordinatorRequest, int]:
    key, at = read_string(data, at)
    (key_type,) = _unpack_b(data, at)
    at += 1
    return FindCoordinatorRequest(key, key_type, ()), at


def _read_find_coordinator_request_v3(data: memoryview, at: int) -> tuple[FindCoordinatorRequest, int]:
    key, at = read_compact_string(data, at)
    key_type, more = _unpack_bB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return FindCoordinatorRequest(key, key_type, ()), at


def _read_find_coordinator_request_v4(data: memoryview, at: int) -> tuple[FindCoordinatorRequest, int]:
    (key_type,) = _unpack_b(data, at)
    at += 1
    count, at = read_compact_count(data, at, 1)
    coordinator_keys, at = read_compact_strings(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return FindCoordinatorRequest("", key_type, coordinator_keys), at


def _write_find_coordinator_request_v0(item: FindCoordinatorRequest, out: bytearray) -> None:
    if item.key_type != 0:
        refuse_field("FindCoordinatorRequest.key_type")
    if item.coordinator_keys:
        refuse_field("FindCoordinatorRequest.coordinator_keys")
    write_string(item.key, out)


def _write_find_coordinator_request_v1(item: FindCoordinatorRequest, out: bytearray) -> None:
    if item.coordinator_keys:
        refuse_field("FindCoordinatorRequest.coordinator_keys")
    write_string(item.key, out)
    out += _pack_b(item.key_type)


def _write_find_coordinator_request_v3(item: FindCoordinatorRequest, out: bytearray) -> None:
    if item.coordinator_keys:
        refuse_field("FindCoordinatorRequest.coordinator_keys")
    write_compact_string(item.key, out)
    out += _pack_bx(item.key_type)


def _write_find_coordinator_request_v4(item: FindCoordinatorRequest, out: bytearray) -> None:
    if item.key != "":
        refuse_field("FindCoordinatorRequest.key")
    out += _pack_b(item.key_type)
    if item.coordinator_keys:
        out += uvarint(len(item.coordinator_keys) + 1)
        write_compact_strings(item.coordinator_keys, out)
    else:
        out.append(1)
    out.append(0)


FindCoordinatorRequest.DECODERS = {
    0: _read_find_coordinator_request_v0,
    1: _read_find_coordinator_request_v1,
    2: _read_find_coordinator_request_v1,
    3: _read_find_coordinator_request_v3,
    4: _read_find_coordinator_request_v4,
    5: _read_find_coordinator_request_v4,
    6: _read_find_coordinator_request_v4,
}
FindCoordinatorRequest.ENCODERS = {
    0: _write_find_coordinator_request_v0,
    1: _write_find_coordinator_request_v1,
    2: _write_find_coordinator_request_v1,
    3: _write_find_coordinator_request_v3,
    4: _write_find_coordinator_request_v4,
    5: _write_find_coordinator_request_v4,
    6: _write_find_coordinator_request_v4,
}
