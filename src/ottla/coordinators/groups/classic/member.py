"""One member of a classic group. Soft state, except for what the group's record contains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ottla.coordinators.groups.shard_context import MEMBER_BYTES, Caller, Reply
from ottla.protocol.messages.join_group_request import JoinGroupRequest

PROTOCOL_BYTES = 150  # overhead, without name and metadata
HASH_SLOTS = 16  # initial capacity of Java's hash map


class OfferedProtocol(NamedTuple):
    """An assignment protocol that a member supports, with its metadata."""

    name: str
    metadata: bytes


@dataclass(slots=True, eq=False)
class ClassicMember:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[OfferedProtocol, ...]  # the preferred one first
    assignment: bytes = b""
    join_reply: Reply | None = None  # waiting for other members to join
    sync_reply: Reply | None = None  # waiting for the leader's assignment
    is_new: bool = False  # has not been in a generation
    held_bytes: int = 0  # as counted by the group

    @property
    def is_joining(self) -> bool:
        return self.join_reply is not None

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def keeps_session(self) -> bool:
        """Whether the member is alive without heartbeats: it waits for a response of the
        coordinator.

        For a new member waiting proves nothing: its client may have given up.
        """
        return not self.is_new and (self.is_joining or self.sync_reply is not None)

    def metadata(self, protocol: str | None) -> bytes:
        """Its metadata for a protocol; KeyError if it does not support it."""
        for each in self.protocols:
            if each.name == protocol:
                return each.metadata
        raise KeyError(protocol)

    def metadata_or_first(self, protocol: str | None) -> bytes:
        """The same, or that of its first protocol if it no longer supports this one."""
        offered = (each.metadata for each in self.protocols if each.name == protocol)
        return next(offered, self.protocols[0].metadata)

    def vote(self, candidates: Collection[str]) -> str:
        return next(each.name for each in self.protocols if each.name in candidates)


def bytes_of(member_id: str, protocols: Iterable[OfferedProtocol]) -> int:
    """The estimated memory of a member."""
    text_bytes = sum(len(each.name) + len(each.metadata) + PROTOCOL_BYTES for each in protocols)
    return MEMBER_BYTES + len(member_id) + text_bytes


def protocols_of(request: JoinGroupRequest) -> tuple[OfferedProtocol, ...]:
    """Without duplicate names: a second one could not be selected."""
    offered: dict[str, bytes] = {}
    for each in request.protocols:
        offered.setdefault(each.name, each.metadata)
    return tuple(OfferedProtocol(*item) for item in offered.items())


def rebalance_timeout_of(request: JoinGroupRequest) -> int:
    """Version 0 has no rebalance timeout."""
    if request.rebalance_timeout_ms < 0:
        return request.session_timeout_ms
    return request.rebalance_timeout_ms


def new_member(request: JoinGroupRequest, member_id: str, caller: Caller) -> ClassicMember:
    return ClassicMember(
        member_id,
        request.group_instance_id,
        caller.client_id,
        caller.client_host,
        rebalance_timeout_of(request),
        request.session_timeout_ms,
        protocols_of(request),
    )


def select_protocol(members: Collection[ClassicMember]) -> str:
    """The protocol that all members support and most prefer; ties are resolved as in Kafka."""
    supported = count_protocols(members)
    return elect({name for name, count in supported.items() if count == len(members)}, members)


def elect(candidates: Collection[str], members: Iterable[ClassicMember]) -> str:
    """The one of the protocols that most members prefer."""
    if len(candidates) == 1:
        return next(iter(candidates))
    votes: dict[str, int] = {}
    for member in members:
        choice = member.vote(candidates)
        votes[choice] = votes.get(choice, 0) + 1
    most = max(votes.values())
    chosen = [name for name, count in votes.items() if count == most]
    return chosen[0] if len(chosen) == 1 else min(chosen, key=hash_slot)


def hash_slot(name: str) -> int:
    """The bucket of the name in a small Java hash map: the first bucket wins a tied vote."""
    units = name.encode("utf-16-be", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at : at + 2], "big")) & 0xFFFF_FFFF
    return (value ^ value >> 16) % HASH_SLOTS


def count_protocols(members: Iterable[ClassicMember]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for member in members:
        for each in member.protocols:
            counts[each.name] = counts.get(each.name, 0) + 1
    return counts
