"""Generated from schemas/join_group.schema: JoinGroupRequest, versions 0-9. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_bytes,
    write_compact_bytes,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack


class JoinGroupRequest(Message):
    __slots__ = ("group_id", "session_timeout_ms", "rebalance_timeout_ms", "member_id", "group_instance_id", "protocol_type", "protocols", "reason",)
    API_KEY = 11
    VERSIONS = range(0, 10)
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: Sequence[JoinGroupRequestProtocol] = (),
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = protocols
        self.reason = reason


class JoinGroupRequestProtocol(Struct):
    __slots__ = ("name", "metadata",)

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata


def _read_join_group_request_protocols_v0(data: memoryview, at: int, count: int) -> tuple[list[JoinGroupRequestProtocol], int]:
    items: list[JoinGroupRequestProtocol] = []
    for _ in range(count):
        name, at = read_string(data, at)
        metadata, at = read_bytes(data, at)
        items.append(JoinGroupRequestProtocol(name, metadata))
    return items, at


def _read_join_group_request_v0(data: memoryview, at: int) -> tuple[JoinGroupRequest, int]:
    group_id, at = read_string(data, at)
    (session_timeout_ms,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    protocol_type, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    protocols, at = _read_join_group_request_protocols_v0(data, at, count) if count else ([], at)
    return JoinGroupRequest(group_id, session_timeout_ms, -1, member_id, None, protocol_type, protocols, None), at


def _read_join_group_request_v1(data: memoryview, at: int) -> tuple[JoinGroupRequest, int]:
    group_id, at = read_string(data, at)
    session_timeout_ms, rebalance_timeout_ms = _unpack_ii(data, at)
    at += 8
    member_id, at = read_string(data, at)
    protocol_type, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    protocols, at = _read_join_group_request_protocols_v0(data, at, count) if count else ([], at)
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, None, protocol_type, protocols, None), at


def _read_join_group_request_v5(data: memoryview, at: int) -> tuple[JoinGroupRequest, int]:
    group_id, at = read_string(data, at)
    session_timeout_ms, rebalance_timeout_ms = _unpack_ii(data, at)
    at += 8
    member_id, at = read_string(data, at)
    group_instance_id, at = read_nullable_string(data, at)
    protocol_type, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    protocols, at = _read_join_group_request_protocols_v0(data, at, count) if count else ([], at)
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols, None), at


def _read_join_group_request_protocols_v6(data: memoryview, at: int, count: int) -> tuple[list[JoinGroupRequestProtocol], int]:
    items: list[JoinGroupRequestProtocol] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        metadata, at = read_compact_bytes(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(JoinGroupRequestProtocol(name, metadata))
    return items, at


def _read_join_group_request_v6(data: memoryview, at: int) -> tuple[JoinGroupRequest, int]:
    group_id, at = read_compact_string(data, at)
    session_timeout_ms, rebalance_timeout_ms = _unpack_ii(data, at)
    at += 8
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    protocol_type, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 3)
    protocols, at = _read_join_group_request_protocols_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols, None), at


def _read_join_group_request_v8(data: memoryview, at: int) -> tuple[JoinGroupRequest, int]:
    group_id, at = read_compact_string(data, at)
    session_timeout_ms, rebalance_timeout_ms = _unpack_ii(data, at)
    at += 8
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    protocol_type, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 3)
    protocols, at = _read_join_group_request_protocols_v6(data, at, count) if count else ([], at)
    reason: str | None = None
    if data[at]:
        reason, at = read_compact_string(data, at)
    else:
        at += 1
    at = skip_tags(data, at) if data[at] else at + 1
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols, reason), at


def _write_join_group_request_protocols_v0(items: Sequence[JoinGroupRequestProtocol], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        write_bytes(item.metadata, out)


def _write_join_group_request_v0(item: JoinGroupRequest, out: bytearray) -> None:
    if item.group_instance_id is not None:
        refuse_field("JoinGroupRequest.group_instance_id")
    write_string(item.group_id, out)
    out += _pack_i(item.session_timeout_ms)
    write_string(item.member_id, out)
    write_string(item.protocol_type, out)
    out += _pack_i(len(item.protocols))
    if item.protocols:
        _write_join_group_request_protocols_v0(item.protocols, out)


def _write_join_group_request_v1(item: JoinGroupRequest, out: bytearray) -> None:
    if item.group_instance_id is not None:
        refuse_field("JoinGroupRequest.group_instance_id")
    write_string(item.group_id, out)
    out += _pack_ii(item.session_timeout_ms, item.rebalance_timeout_ms)
    write_string(item.member_id, out)
    write_string(item.protocol_type, out)
    out += _pack_i(len(item.protocols))
    if item.protocols:
        _write_join_group_request_protocols_v0(item.protocols, out)


def _write_join_group_request_v5(item: JoinGroupRequest, out: bytearray) -> None:
    write_string(item.group_id, out)
    out += _pack_ii(item.session_timeout_ms, item.rebalance_timeout_ms)
    write_string(item.member_id, out)
    write_nullable_string(item.group_instance_id, out)
    write_string(item.protocol_type, out)
    out += _pack_i(len(item.protocols))
    if item.protocols:
        _write_join_group_request_protocols_v0(item.protocols, out)


def _write_join_group_request_protocols_v6(items: Sequence[JoinGroupRequestProtocol], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_bytes(item.metadata, out)
        out.append(0)


def _write_join_group_request_v6(item: JoinGroupRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    out += _pack_ii(item.session_timeout_ms, item.rebalance_timeout_ms)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    write_compact_string(item.protocol_type, out)
    if item.protocols:
        out += uvarint(len(item.protocols) + 1)
        _write_join_group_request_protocols_v6(item.protocols, out)
    else:
        out.append(1)
    out.append(0)


def _write_join_group_request_v8(item: JoinGroupRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    out += _pack_ii(item.session_timeout_ms, item.rebalance_timeout_ms)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    write_compact_string(item.protocol_type, out)
    if item.protocols:
        out += uvarint(len(item.protocols) + 1)
        _write_join_group_request_protocols_v6(item.protocols, out)
    else:
        out.append(1)
    if item.reason is None:
        out.append(0)
    else:
        write_compact_string(item.reason, out)
    out.append(0)


JoinGroupRequest.DECODERS = {
    0: _read_join_group_request_v0,
    1: _read_join_group_request_v1,
    2: _read_join_group_request_v1,
    3: _read_join_group_request_v1,
    4: _read_join_group_request_v1,
    5: _read_join_group_request_v5,
    6: _read_join_group_request_v6,
    7: _read_join_group_request_v6,
    8: _read_join_group_request_v8,
    9: _read_join_group_request_v8,
}
JoinGroupRequest.ENCODERS = {
    0: _write_join_group_request_v0,
    1: _write_join_group_request_v1,
    2: _write_join_group_request_v1,
    3: _write_join_group_request_v1,
    4: _write_join_group_request_v1,
    5: _write_join_group_request_v5,
    6: _write_join_group_request_v6,
    7: _write_join_group_request_v6,
    8: _write_join_group_request_v8,
    9: _write_join_group_request_v8,
}
