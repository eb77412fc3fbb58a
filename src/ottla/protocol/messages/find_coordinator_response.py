"""Generated from schemas/find_coordinator.schema: FindCoordinatorResponse, versions 0-6. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_hi = Layout(">hi").unpack_from
_pack_hi = Layout(">hi").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ix = Layout(">ix").pack


class FindCoordinatorResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "node_id", "host", "port", "coordinators",)
    API_KEY = 10
    VERSIONS = range(0, 7)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: Sequence[Coordinator] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = coordinators


class Coordinator(Struct):
    __slots__ = ("key", "node_id", "host", "port", "error_code", "error_message",)

    def __init__(
        self,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message


def _read_find_coordinator_response_v0(data: memoryview, at: int) -> tuple[FindCoordinatorResponse, int]:
    error_code, node_id = _unpack_hi(data, at)
    at += 6
    host, at = read_string(data, at)
    (port,) = _unpack_i(data, at)
    at += 4
    return FindCoordinatorResponse(0, error_code, "", node_id, host, port, ()), at


def _read_find_coordinator_response_v1(data: memoryview, at: int) -> tuple[FindCoordinatorResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message, at = read_nullable_string(data, at)
    (node_id,) = _unpack_i(data, at)
    at += 4
    host, at = read_string(data, at)
    (port,) = _unpack_i(data, at)
    at += 4
    return FindCoordinatorResponse(throttle_time_ms, error_code, error_message, node_id, host, port, ()), at


def _read_find_coordinator_response_v3(data: memoryview, at: int) -> tuple[FindCoordinatorResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    (node_id,) = _unpack_i(data, at)
    at += 4
    host, at = read_compact_string(data, at)
    port, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return FindCoordinatorResponse(throttle_time_ms, error_code, error_message, node_id, host, port, ()), at


def _read_coordinators_v4(data: memoryview, at: int, count: int) -> tuple[list[Coordinator], int]:
    items: list[Coordinator] = []
    for _ in range(count):
        key, at = read_compact_string(data, at)
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        port, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Coordinator(key, node_id, host, port, error_code, error_message))
    return items, at


def _read_find_coordinator_response_v4(data: memoryview, at: int) -> tuple[FindCoordinatorResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 14)
    coordinators, at = _read_coordinators_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return FindCoordinatorResponse(throttle_time_ms, 0, "", 0, "", 0, coordinators), at


def _write_find_coordinator_response_v0(item: FindCoordinatorResponse, out: bytearray) -> None:
    if item.coordinators:
        refuse_field("FindCoordinatorResponse.coordinators")
    out += _pack_hi(item.error_code, item.node_id)
    write_string(item.host, out)
    out += _pack_i(item.port)


def _write_find_coordinator_response_v1(item: FindCoordinatorResponse, out: bytearray) -> None:
    if item.coordinators:
        refuse_field("FindCoordinatorResponse.coordinators")
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    write_nullable_string(item.error_message, out)
    out += _pack_i(item.node_id)
    write_string(item.host, out)
    out += _pack_i(item.port)


def _write_find_coordinator_response_v3(item: FindCoordinatorResponse, out: bytearray) -> None:
    if item.coordinators:
        refuse_field("FindCoordinatorResponse.coordinators")
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    out += _pack_i(item.node_id)
    write_compact_string(item.host, out)
    out += _pack_ix(item.port)


def _write_coordinators_v4(items: Sequence[Coordinator], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.key, out)
        out += _pack_i(item.node_id)
        write_compact_string(item.host, out)
        out += _pack_ih(item.port, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_find_coordinator_response_v4(item: FindCoordinatorResponse, out: bytearray) -> None:
    if item.error_code != 0:
        refuse_field("FindCoordinatorResponse.error_code")
    if item.node_id != 0:
        refuse_field("FindCoordinatorResponse.node_id")
    if item.host != "":
        refuse_field("FindCoordinatorResponse.host")
    if item.port != 0:
        refuse_field("FindCoordinatorResponse.port")
    out += _pack_i(item.throttle_time_ms)
    if item.coordinators:
        out += uvarint(len(item.coordinators) + 1)
        _write_coordinators_v4(item.coordinators, out)
    else:
        out.append(1)
    out.append(0)


FindCoordinatorResponse.DECODERS = {
    0: _read_find_coordinator_response_v0,
    1: _read_find_coordinator_response_v1,
    2: _read_find_coordinator_response_v1,
    3: _read_find_coordinator_response_v3,
    4: _read_find_coordinator_response_v4,
    5: _read_find_coordinator_response_v4,
    6: _read_find_coordinator_response_v4,
}
FindCoordinatorResponse.ENCODERS = {
    0: _write_find_coordinator_response_v0,
    1: _write_find_coordinator_response_v1,
    2: _write_find_coordinator_response_v1,
    3: _write_find_coordinator_response_v3,
    4: _write_find_coordinator_response_v4,
    5: _write_find_coordinator_response_v4,
    6: _write_find_coordinator_response_v4,
}
