"""Generated from schemas/heartbeat.schema: HeartbeatRequest, versions 0-4. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_compact_string,
    read_nullable_string,
    read_string,
    skip_tags,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class HeartbeatRequest(Message):
    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id",)
    API_KEY = 12
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id


def _read_heartbeat_request_v0(data: memoryview, at: int) -> tuple[HeartbeatRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    return HeartbeatRequest(group_id, generation_id, member_id, None), at


def _read_heartbeat_request_v3(data: memoryview, at: int) -> tuple[HeartbeatRequest, int]:
    group_id, at = read_string(data, at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_string(data, at)
    group_instance_id, at = read_nullable_string(data, at)
    return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id), at


def _read_heartbeat_request_v4(data: memoryview, at: int) -> tuple[HeartbeatRequest, int]:
    group_id, at = read_compact_string(data, at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    member_id, at = read_compact_string(data, at)
    group_instance_id: str | None = None
    if data[at]:
        group_instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    at = skip_tags(data, at) if data[at] else at + 1
    return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id), at


def _write_heartbeat_request_v0(item: HeartbeatRequest, out: bytearray) -> None:
    if item.group_instance_id is not None:
        refuse_field("HeartbeatRequest.group_instance_id")
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id)
    write_string(item.member_id, out)


def _write_heartbeat_request_v3(item: HeartbeatRequest, out: bytearray) -> None:
    write_string(item.group_id, out)
    out += _pack_i(item.generation_id)
    write_string(item.member_id, out)
    write_nullable_string(item.group_instance_id, out)


def _write_heartbeat_request_v4(item: HeartbeatRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    out += _pack_i(item.generation_id)
    write_compact_string(item.member_id, out)
    if item.group_instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_instance_id, out)
    out.append(0)


HeartbeatRequest.DECODERS = {
    0: _read_heartbeat_request_v0,
    1: _read_heartbeat_request_v0,
    2: _read_heartbeat_request_v0,
    3: _read_heartbeat_request_v3,
    4: _read_heartbeat_request_v4,
}
HeartbeatRequest.ENCODERS = {
    0: _write_heartbeat_request_v0,
    1: _write_heartbeat_request_v0,
    2: _write_heartbeat_request_v0,
    3: _write_heartbeat_request_v3,
    4: _write_heartbeat_request_v4,
}
