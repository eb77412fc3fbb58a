"""Generated from schemas/add_raft_voter.schema: AddRaftVoterRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_iiu = Layout(">ii16s").unpack_from
_pack_iiu = Layout(">ii16s").pack


class AddRaftVoterRequest(Message):
    __slots__ = ("cluster_id", "timeout_ms", "voter_id", "voter_directory_id", "listeners", "ack_when_committed",)
    API_KEY = 80
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: Sequence[Listener] = (),
        ack_when_committed: bool = True,
    ) -> None:
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = listeners
        self.ack_when_committed = ack_when_committed


class Listener(Struct):
    __slots__ = ("name", "host", "port",)

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


def _read_listeners_v0(data: memoryview, at: int, count: int) -> tuple[list[Listener], int]:
    items: list[Listener] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        port, more = _unpack_HB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(Listener(name, host, port))
    return items, at


def _read_add_raft_voter_request_v0(data: memoryview, at: int) -> tuple[AddRaftVoterRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    timeout_ms, voter_id, voter_directory_id = _unpack_iiu(data, at)
    at += 24
    count, at = read_compact_count(data, at, 5)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, voter_directory_id, listeners, True), at


def _read_add_raft_voter_request_v1(data: memoryview, at: int) -> tuple[AddRaftVoterRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    timeout_ms, voter_id, voter_directory_id = _unpack_iiu(data, at)
    at += 24
    count, at = read_compact_count(data, at, 5)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    ack_when_committed, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, voter_directory_id, listeners, ack_when_committed), at


def _write_listeners_v0(items: Sequence[Listener], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_string(item.host, out)
        out += _pack_Hx(item.port)


def _write_add_raft_voter_request_v0(item: AddRaftVoterRequest, out: bytearray) -> None:
    if not item.ack_when_committed:
        refuse_field("AddRaftVoterRequest.ack_when_committed")
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_iiu(item.timeout_ms, item.voter_id, item.voter_directory_id)
    if item.listeners:
        out += uvarint(len(item.listeners) + 1)
        _write_listeners_v0(item.listeners, out)
    else:
        out.append(1)
    out.append(0)


def _write_add_raft_voter_request_v1(item: AddRaftVoterRequest, out: bytearray) -> None:
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_iiu(item.timeout_ms, item.voter_id, item.voter_directory_id)
    if item.listeners:
        out += uvarint(len(item.listeners) + 1)
        _write_listeners_v0(item.listeners, out)
    else:
        out.append(1)
    out += _pack_tx(item.ack_when_committed)


AddRaftVoterRequest.DECODERS = {
    0: _read_add_raft_voter_request_v0,
    1: _read_add_raft_voter_request_v1,
}
AddRaftVoterRequest.ENCODERS = {
    0: _write_add_raft_voter_request_v0,
    1: _write_add_raft_voter_request_v1,
}
