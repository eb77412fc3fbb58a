"""Generated from schemas/add_raft_voter.schema: AddRaftVoterResponse, versions 0-1. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_string,
    skip_tags,
    write_compact_string,
)

_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class AddRaftVoterResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message",)
    API_KEY = 80
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message


def _read_add_raft_voter_response_v0(data: memoryview, at: int) -> tuple[AddRaftVoterResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    at = skip_tags(data, at) if data[at] else at + 1
    return AddRaftVoterResponse(throttle_time_ms, error_code, error_message), at


def _write_add_raft_voter_response_v0(item: AddRaftVoterResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    out.append(0)


AddRaftVoterResponse.DECODERS = {
    0: _read_add_raft_voter_response_v0,
    1: _read_add_raft_voter_response_v0,
}
AddRaftVoterResponse.ENCODERS = {
    0: _write_add_raft_voter_response_v0,
    1: _write_add_raft_voter_response_v0,
}
