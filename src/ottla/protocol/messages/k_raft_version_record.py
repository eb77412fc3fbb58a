"""Generated from schemas/data/k_raft_version_record.schema: KRaftVersionRecord, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_hhB = Layout(">hhB").unpack_from
_pack_hhx = Layout(">hhx").pack


class KRaftVersionRecord(Message):
    __slots__ = ("version", "k_raft_version",)
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        version: int = 0,
        k_raft_version: int = 0,
    ) -> None:
        self.version = version
        self.k_raft_version = k_raft_version


def _read_k_raft_version_record_v0(data: memoryview, at: int) -> tuple[KRaftVersionRecord, int]:
    version, k_raft_version, more = _unpack_hhB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return KRaftVersionRecord(version, k_raft_version), at


def _write_k_raft_version_record_v0(item: KRaftVersionRecord, out: bytearray) -> None:
    out += _pack_hhx(item.version, item.k_raft_version)


KRaftVersionRecord.DECODERS = {
    0: _read_k_raft_version_record_v0,
}
KRaftVersionRecord.ENCODERS = {
    0: _write_k_raft_version_record_v0,
}
