"""Generated from schemas/data/group_metadata_value.schema: GroupMetadataValue, versions 0-4. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
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
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_pack_qi = Layout(">qi").pack


class GroupMetadataValue(Message):
    __slots__ = ("protocol_type", "generation", "protocol", "leader", "current_state_timestamp", "members",)
    RECORD_TYPE = 2
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: Sequence[MemberMetadata] = (),
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = members


class MemberMetadata(Struct):
    __slots__ = ("member_id", "group_instance_id", "client_id", "client_host", "rebalance_timeout", "session_timeout", "subscription", "assignment",)

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment


def _read_member_metadatas_v0(data: memoryview, at: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        client_id, at = read_string(data, at)
        client_host, at = read_string(data, at)
        (session_timeout,) = _unpack_i(data, at)
        at += 4
        subscription, at = read_bytes(data, at)
        assignment, at = read_bytes(data, at)
        items.append(MemberMetadata(member_id, None, client_id, client_host, -1, session_timeout, subscription, assignment))
    return items, at


def _read_group_metadata_value_v0(data: memoryview, at: int) -> tuple[GroupMetadataValue, int]:
    protocol_type, at = read_string(data, at)
    (generation,) = _unpack_i(data, at)
    at += 4
    protocol, at = read_nullable_string(data, at)
    leader, at = read_nullable_string(data, at)
    count, at = read_count(data, at, 18)
    members, at = _read_member_metadatas_v0(data, at, count) if count else ([], at)
    return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members), at


def _read_member_metadatas_v1(data: memoryview, at: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        client_id, at = read_string(data, at)
        client_host, at = read_string(data, at)
        rebalance_timeout, session_timeout = _unpack_ii(data, at)
        at += 8
        subscription, at = read_bytes(data, at)
        assignment, at = read_bytes(data, at)
        items.append(MemberMetadata(member_id, None, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment))
    return items, at


def _read_group_metadata_value_v1(data: memoryview, at: int) -> tuple[GroupMetadataValue, int]:
    protocol_type, at = read_string(data, at)
    (generation,) = _unpack_i(data, at)
    at += 4
    protocol, at = read_nullable_string(data, at)
    leader, at = read_nullable_string(data, at)
    count, at = read_count(data, at, 22)
    members, at = _read_member_metadatas_v1(data, at, count) if count else ([], at)
    return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members), at


def _read_group_metadata_value_v2(data: memoryview, at: int) -> tuple[GroupMetadataValue, int]:
    protocol_type, at = read_string(data, at)
    (generation,) = _unpack_i(data, at)
    at += 4
    protocol, at = read_nullable_string(data, at)
    leader, at = read_nullable_string(data, at)
    (current_state_timestamp,) = _unpack_q(data, at)
    at += 8
    count, at = read_count(data, at, 22)
    members, at = _read_member_metadatas_v1(data, at, count) if count else ([], at)
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members), at


def _read_member_metadatas_v3(data: memoryview, at: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        member_id, at = read_string(data, at)
        group_instance_id, at = read_nullable_string(data, at)
        client_id, at = read_string(data, at)
        client_host, at = read_string(data, at)
        rebalance_timeout, session_timeout = _unpack_ii(data, at)
        at += 8
        subscription, at = read_bytes(data, at)
        assignment, at = read_bytes(data, at)
        items.append(MemberMetadata(member_id, group_instance_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment))
    return items, at


def _read_group_metadata_value_v3(data: memoryview, at: int) -> tuple[GroupMetadataValue, int]:
    protocol_type, at = read_string(data, at)
    (generation,) = _unpack_i(data, at)
    at += 4
    protocol, at = read_nullable_string(data, at)
    leader, at = read_nullable_string(data, at)
    (current_state_timestamp,) = _unpack_q(data, at)
    at += 8
    count, at = read_count(data, at, 24)
    members, at = _read_member_metadatas_v3(data, at, count) if count else ([], at)
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members), at


def _read_member_metadatas_v4(data: memoryview, at: int, count: int) -> tuple[list[MemberMetadata], int]:
    items: list[MemberMetadata] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        group_instance_id: str | None = None
        if data[at]:
            group_instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        client_id, at = read_compact_string(data, at)
        client_host, at = read_compact_string(data, at)
        rebalance_timeout, session_timeout = _unpack_ii(data, at)
        at += 8
        subscription, at = read_compact_bytes(data, at)
        assignment, at = read_compact_bytes(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(MemberMetadata(member_id, group_instance_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment))
    return items, at


def _read_group_metadata_value_v4(data: memoryview, at: int) -> tuple[GroupMetadataValue, int]:
    protocol_type, at = read_compact_string(data, at)
    (generation,) = _unpack_i(data, at)
    at += 4
    protocol: str | None = None
    if data[at]:
        protocol, at = read_compact_string(data, at)
    else:
        at += 1
    leader: str | None = None
    if data[at]:
        leader, at = read_compact_string(data, at)
    else:
        at += 1
    (current_state_timestamp,) = _unpack_q(data, at)
    at += 8
    count, at = read_compact_count(data, at, 15)
    members, at = _read_member_metadatas_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members), at


def _write_member_metadatas_v0(items: Sequence[MemberMetadata], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_string(item.client_id, out)
        write_string(item.client_host, out)
        out += _pack_i(item.session_timeout)
        write_bytes(item.subscription, out)
        write_bytes(item.assignment, out)


def _write_group_metadata_value_v0(item: GroupMetadataValue, out: bytearray) -> None:
    write_string(item.protocol_type, out)
    out += _pack_i(item.generation)
    write_nullable_string(item.protocol, out)
    write_nullable_string(item.leader, out)
    out += _pack_i(len(item.members))
    if item.members:
        _write_member_metadatas_v0(item.members, out)


def _write_member_metadatas_v1(items: Sequence[MemberMetadata], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_string(item.client_id, out)
        write_string(item.client_host, out)
        out += _pack_ii(item.rebalance_timeout, item.session_timeout)
        write_bytes(item.subscription, out)
        write_bytes(item.assignment, out)


def _write_group_metadata_value_v1(item: GroupMetadataValue, out: bytearray) -> None:
    write_string(item.protocol_type, out)
    out += _pack_i(item.generation)
    write_nullable_string(item.protocol, out)
    write_nullable_string(item.leader, out)
    out += _pack_i(len(item.members))
    if item.members:
        _write_member_metadatas_v1(item.members, out)


def _write_group_metadata_value_v2(item: GroupMetadataValue, out: bytearray) -> None:
    write_string(item.protocol_type, out)
    out += _pack_i(item.generation)
    write_nullable_string(item.protocol, out)
    write_nullable_string(item.leader, out)
    out += _pack_qi(item.current_state_timestamp, len(item.members))
    if item.members:
        _write_member_metadatas_v1(item.members, out)


def _write_member_metadatas_v3(items: Sequence[MemberMetadata], out: bytearray) -> None:
    for item in items:
        write_string(item.member_id, out)
        write_nullable_string(item.group_instance_id, out)
        write_string(item.client_id, out)
        write_string(item.client_host, out)
        out += _pack_ii(item.rebalance_timeout, item.session_timeout)
        write_bytes(item.subscription, out)
        write_bytes(item.assignment, out)


def _write_group_metadata_value_v3(item: GroupMetadataValue, out: bytearray) -> None:
    write_string(item.protocol_type, out)
    out += _pack_i(item.generation)
    write_nullable_string(item.protocol, out)
    write_nullable_string(item.leader, out)
    out += _pack_qi(item.current_state_timestamp, len(item.members))
    if item.members:
        _write_member_metadatas_v3(item.members, out)


def _write_member_metadatas_v4(items: Sequence[MemberMetadata], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.group_instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.group_instance_id, out)
        write_compact_string(item.client_id, out)
        write_compact_string(item.client_host, out)
        out += _pack_ii(item.rebalance_timeout, item.session_timeout)
        write_compact_bytes(item.subscription, out)
        write_compact_bytes(item.assignment, out)
        out.append(0)


def _write_group_metadata_value_v4(item: GroupMetadataValue, out: bytearray) -> None:
    write_compact_string(item.protocol_type, out)
    out += _pack_i(item.generation)
    if item.protocol is None:
        out.append(0)
    else:
        write_compact_string(item.protocol, out)
    if item.leader is None:
        out.append(0)
    else:
        write_compact_string(item.leader, out)
    out += _pack_q(item.current_state_timestamp)
    if item.members:
        out += uvarint(len(item.members) + 1)
        _write_member_metadatas_v4(item.members, out)
    else:
        out.append(1)
    out.append(0)


GroupMetadataValue.DECODERS = {
    0: _read_group_metadata_value_v0,
    1: _read_group_metadata_value_v1,
    2: _read_group_metadata_value_v2,
    3: _read_group_metadata_value_v3,
    4: _read_group_metadata_value_v4,
}
GroupMetadataValue.ENCODERS = {
    0: _write_group_metadata_value_v0,
    1: _write_group_metadata_value_v1,
    2: _write_group_metadata_value_v2,
    3: _write_group_metadata_value_v3,
    4: _write_group_metadata_value_v4,
}
