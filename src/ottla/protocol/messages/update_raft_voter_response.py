"""Generated from schemas/update_raft_voter.schema: UpdateRaftVoterResponse, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_string,
    read_tag,
    read_tag_count,
    skip_tags,
    write_compact_string,
    write_tags,
)

_unpack_iB = Layout(">iB").unpack_from
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack
_pack_ix = Layout(">ix").pack


class UpdateRaftVoterResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "current_leader",)
    API_KEY = 82
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader = current_leader


class CurrentLeader(Struct):
    __slots__ = ("leader_id", "leader_epoch", "host", "port",)

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port


def _read_current_leader_v0(data: memoryview, at: int) -> tuple[CurrentLeader, int]:
    leader_id, leader_epoch = _unpack_ii(data, at)
    at += 8
    host, at = read_compact_string(data, at)
    port, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return CurrentLeader(leader_id, leader_epoch, host, port), at


def _read_update_raft_voter_response_v0(data: memoryview, at: int) -> tuple[UpdateRaftVoterResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    current_leader: CurrentLeader | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                current_leader, at = _read_current_leader_v0(data, at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return UpdateRaftVoterResponse(throttle_time_ms, error_code, current_leader), at


def _write_current_leader_v0(item: CurrentLeader, out: bytearray) -> None:
    out += _pack_ii(item.leader_id, item.leader_epoch)
    write_compact_string(item.host, out)
    out += _pack_ix(item.port)


def _write_update_raft_voter_response_v0(item: UpdateRaftVoterResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if not ((item.current_leader is not None and item.current_leader != CurrentLeader())):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if (item.current_leader is not None and item.current_leader != CurrentLeader()):
            value = bytearray()
            _write_current_leader_v0(item.current_leader, value)
            tags.append((0, value))
        write_tags(tags, out)


UpdateRaftVoterResponse.DECODERS = {
    0: _read_update_raft_voter_response_v0,
}
UpdateRaftVoterResponse.ENCODERS = {
    0: _write_update_raft_voter_response_v0,
}
