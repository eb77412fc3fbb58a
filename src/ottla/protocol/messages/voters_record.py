"""Generated from schemas/data/voters_record.schema: VotersRecord, versions 0. Do not edit."""

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
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hhB = Layout(">hhB").unpack_from
_pack_hhx = Layout(">hhx").pack
_unpack_iu = Layout(">i16s").unpack_from
_pack_iu = Layout(">i16s").pack


class VotersRecord(Message):
    __slots__ = ("version", "voters",)
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        version: int = 0,
        voters: Sequence[Voter] = (),
    ) -> None:
        self.version = version
        self.voters = voters


class Endpoint(Struct):
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


class Voter(Struct):
    __slots__ = ("voter_id", "voter_directory_id", "endpoints", "k_raft_version_feature",)

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        endpoints: Sequence[Endpoint] = (),
        k_raft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints = endpoints
        self.k_raft_version_feature: KRaftVersionFeature = KRaftVersionFeature() if k_raft_version_feature is None else k_raft_version_feature


def _read_endpoints_v0(data: memoryview, at: int, count: int) -> tuple[list[Endpoint], int]:
    items: list[Endpoint] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        port, more = _unpack_HB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(Endpoint(name, host, port))
    return items, at


def _read_k_raft_version_feature_v0(data: memoryview, at: int) -> tuple[KRaftVersionFeature, int]:
    min_supported_version, max_supported_version, more = _unpack_hhB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return KRaftVersionFeature(min_supported_version, max_supported_version), at


def _read_voters_v0(data: memoryview, at: int, count: int) -> tuple[list[Voter], int]:
    items: list[Voter] = []
    for _ in range(count):
        voter_id, voter_directory_id = _unpack_iu(data, at)
        at += 20
        count, at = read_compact_count(data, at, 5)
        endpoints, at = _read_endpoints_v0(data, at, count) if count else ([], at)
        k_raft_version_feature, at = _read_k_raft_version_feature_v0(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Voter(voter_id, voter_directory_id, endpoints, k_raft_version_feature))
    return items, at


def _read_voters_record_v0(data: memoryview, at: int) -> tuple[VotersRecord, int]:
    (version,) = _unpack_h(data, at)
    at += 2
    count, at = read_compact_count(data, at, 27)
    voters, at = _read_voters_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return VotersRecord(version, voters), at


def _write_endpoints_v0(items: Sequence[Endpoint], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_string(item.host, out)
        out += _pack_Hx(item.port)


def _write_k_raft_version_feature_v0(item: KRaftVersionFeature, out: bytearray) -> None:
    out += _pack_hhx(item.min_supported_version, item.max_supported_version)


def _write_voters_v0(items: Sequence[Voter], out: bytearray) -> None:
    for item in items:
        out += _pack_iu(item.voter_id, item.voter_directory_id)
        if item.endpoints:
            out += uvarint(len(item.endpoints) + 1)
            _write_endpoints_v0(item.endpoints, out)
        else:
            out.append(1)
        _write_k_raft_version_feature_v0(item.k_raft_version_feature, out)
        out.append(0)


def _write_voters_record_v0(item: VotersRecord, out: bytearray) -> None:
    out += _pack_h(item.version)
    if item.voters:
        out += uvarint(len(item.voters) + 1)
        _write_voters_v0(item.voters, out)
    else:
        out.append(1)
    out.append(0)


VotersRecord.DECODERS = {
    0: _read_voters_record_v0,
}
VotersRecord.ENCODERS = {
    0: _write_voters_record_v0,
}
