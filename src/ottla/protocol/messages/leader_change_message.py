"""Generated from schemas/data/leader_change_message.schema: LeaderChangeMessage, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    skip_tags,
    uvarint,
)

_unpack_hi = Layout(">hi").unpack_from
_pack_hi = Layout(">hi").pack
_unpack_iuB = Layout(">i16sB").unpack_from
_pack_iux = Layout(">i16sx").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class LeaderChangeMessage(Message):
    __slots__ = ("version", "leader_id", "voters", "granting_voters",)
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        version: int = 0,
        leader_id: int = 0,
        voters: Sequence[Voter] = (),
        granting_voters: Sequence[Voter] = (),
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters = voters
        self.granting_voters = granting_voters


class Voter(Struct):
    __slots__ = ("voter_id", "voter_directory_id",)

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id


def _read_voters_v0(data: memoryview, at: int, count: int) -> tuple[list[Voter], int]:
    items: list[Voter] = []
    for _ in range(count):
        voter_id, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(Voter(voter_id, ZERO_UUID))
    return items, at


def _read_leader_change_message_v0(data: memoryview, at: int) -> tuple[LeaderChangeMessage, int]:
    version, leader_id = _unpack_hi(data, at)
    at += 6
    count, at = read_compact_count(data, at, 5)
    voters, at = _read_voters_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 5)
    granting_voters, at = _read_voters_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return LeaderChangeMessage(version, leader_id, voters, granting_voters), at


def _read_voters_v1(data: memoryview, at: int, count: int) -> tuple[list[Voter], int]:
    items: list[Voter] = []
    for _ in range(count):
        voter_id, voter_directory_id, more = _unpack_iuB(data, at)
        at += 21
        if more:
            at = skip_tags(data, at - 1)
        items.append(Voter(voter_id, voter_directory_id))
    return items, at


def _read_leader_change_message_v1(data: memoryview, at: int) -> tuple[LeaderChangeMessage, int]:
    version, leader_id = _unpack_hi(data, at)
    at += 6
    count, at = read_compact_count(data, at, 21)
    voters, at = _read_voters_v1(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 21)
    granting_voters, at = _read_voters_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return LeaderChangeMessage(version, leader_id, voters, granting_voters), at


def _write_voters_v0(items: Sequence[Voter], out: bytearray) -> None:
    for item in items:
        if item.voter_directory_id != ZERO_UUID:
            refuse_field("Voter.voter_directory_id")
        out += _pack_ix(item.voter_id)


def _write_leader_change_message_v0(item: LeaderChangeMessage, out: bytearray) -> None:
    out += _pack_hi(item.version, item.leader_id)
    if item.voters:
        out += uvarint(len(item.voters) + 1)
        _write_voters_v0(item.voters, out)
    else:
        out.append(1)
    if item.granting_voters:
        out += uvarint(len(item.granting_voters) + 1)
        _write_voters_v0(item.granting_voters, out)
    else:
        out.append(1)
    out.append(0)


def _write_voters_v1(items: Sequence[Voter], out: bytearray) -> None:
    for item in items:
        out += _pack_iux(item.voter_id, item.voter_directory_id)


def _write_leader_change_message_v1(item: LeaderChangeMessage, out: bytearray) -> None:
    out += _pack_hi(item.version, item.leader_id)
    if item.voters:
        out += uvarint(len(item.voters) + 1)
        _write_voters_v1(item.voters, out)
    else:
        out.append(1)
    if item.granting_voters:
        out += uvarint(len(item.granting_voters) + 1)
        _write_voters_v1(item.granting_voters, out)
    else:
        out.append(1)
    out.append(0)


LeaderChangeMessage.DECODERS = {
    0: _read_leader_change_message_v0,
    1: _read_leader_change_message_v1,
}
LeaderChangeMessage.ENCODERS = {
    0: _write_leader_change_message_v0,
    1: _write_leader_change_message_v1,
}
