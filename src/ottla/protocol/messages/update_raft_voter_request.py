"""Generated from schemas/update_raft_voter.schema: UpdateRaftVoterRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_hhB = Layout(">hhB").unpack_from
_pack_hhx = Layout(">hhx").pack
_unpack_iiu = Layout(">ii16s").unpack_from
_pack_iiu = Layout(">ii16s").pack


class UpdateRaftVoterRequest(Message):
    __slots__ = ("cluster_id", "current_leader_epoch", "voter_id", "voter_directory_id", "listeners", "k_raft_version_feature",)
    API_KEY = 82
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: Sequence[Listener] = (),
        k_raft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = listeners
        self.k_raft_version_feature: KRaftVersionFeature = KRaftVersionFeature() if k_raft_version_feature is None else k_raft_version_feature


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


class KRaftVersionFeature(Struct):
    __slots__ = ("min_supported_version", "max_supported_version",)

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


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


def _read_k_raft_version_feature_v0(data: memoryview, at: int) -> tuple[KRaftVersionFeature, int]:
    min_supported_version, max_supported_version, more = _unpack_hhB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return KRaftVersionFeature(min_supported_version, max_supported_version), at


def _read_update_raft_voter_request_v0(data: memoryview, at: int) -> tuple[UpdateRaftVoterRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    current_leader_epoch, voter_id, voter_directory_id = _unpack_iiu(data, at)
    at += 24
    count, at = read_compact_count(data, at, 5)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    k_raft_version_feature, at = _read_k_raft_version_feature_v0(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return UpdateRaftVoterRequest(cluster_id, current_leader_epoch, voter_id, voter_directory_id, listeners, k_raft_version_feature), at


def _write_listeners_v0(items: Sequence[Listener], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_string(item.host, out)
        out += _pack_Hx(item.port)


def _write_k_raft_version_feature_v0(item: KRaftVersionFeature, out: bytearray) -> None:
    out += _pack_hhx(item.min_supported_version, item.max_supported_version)


def _write_update_raft_voter_request_v0(item: UpdateRaftVoterRequest, out: bytearray) -> None:
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_iiu(item.current_leader_epoch, item.voter_id, item.voter_directory_id)
    if item.listeners:
        out += uvarint(len(item.listeners) + 1)
        _write_listeners_v0(item.listeners, out)
    else:
        out.append(1)
    _write_k_raft_version_feature_v0(item.k_raft_version_feature, out)
    out.append(0)


UpdateRaftVoterRequest.DECODERS = {
    0: _read_update_raft_voter_request_v0,
}
UpdateRaftVoterRequest.ENCODERS = {
    0: _write_update_raft_voter_request_v0,
}
