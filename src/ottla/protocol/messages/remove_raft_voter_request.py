"""Generated from schemas/remove_raft_voter.schema: RemoveRaftVoterRequest, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_string,
    skip_tags,
    write_compact_string,
)

_unpack_iuB = Layout(">i16sB").unpack_from
_pack_iux = Layout(">i16sx").pack


class RemoveRaftVoterRequest(Message):
    __slots__ = ("cluster_id", "voter_id", "voter_directory_id",)
    API_KEY = 81
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id


def _read_remove_raft_voter_request_v0(data: memoryview, at: int) -> tuple[RemoveRaftVoterRequest, int]:
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    voter_id, voter_directory_id, more = _unpack_iuB(data, at)
    at += 21
    if more:
        at = skip_tags(data, at - 1)
    return RemoveRaftVoterRequest(cluster_id, voter_id, voter_directory_id), at


def _write_remove_raft_voter_request_v0(item: RemoveRaftVoterRequest, out: bytearray) -> None:
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_iux(item.voter_id, item.voter_directory_id)


RemoveRaftVoterRequest.DECODERS = {
    0: _read_remove_raft_voter_request_v0,
}
RemoveRaftVoterRequest.ENCODERS = {
    0: _write_remove_raft_voter_request_v0,
}
