"""One member of a classic group. All of it is soft but what the group's record keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ottla.coordinators.groups.shared import MEMBER_BYTES, Caller, Reply
from ottla.protocol.messages.join_group_request import JoinGroupRequest

PROTOCOL_BYTES = 150  # besides its name and metadata
HASH_SLOTS = 16  # of a table that has not grown yet


class OfferedProtocol(NamedTuple):
    """A way of assigning that a member can do, and what it has to say for it."""

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
    join_reply: Reply | None = None  # waits for the others to join
    sync_reply: Reply | None = None  # waits for the leader's assignment
    is_new: bool = False  # has not been in any generation yet
    held_bytes: int = 0  # as the group counts it

    @property
    def is_joining(self) -> bool:
        return self.join_reply is not None

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def keeps_session(self) -> bool:
        """Whether it is known to be there without heartbeats: it waits for us, not we for it.

        A new member's client may have given up long ago, so that waiting proves nothing.
        """
        return not self.is_new and (self.is_joining or self.sync_reply is not None)

    def metadata(self, protocol: str | None) -> bytes:
        """What it has to say for a protocol; KeyError if it cannot do that one."""
        for each in self.protocols:
            if each.name == protocol:
                return each.metadata
        raise KeyError(protocol)

    def metadata_or_first(self, protocol: str | None) -> bytes:
        """The same, or that of its first protocol, if it does not offer this one any more."""
        offered = (each.metadata for each in self.protocols if each.name == protocol)
        return next(offered, self.protocols[0].metadata)

    def vote(self, candidates: Collection[str]) -> str:
        return next(each.name for each in self.protocols if each.name in candidates)


def bytes_of(member_id: str, protocols: Iterable[OfferedProtocol]) -> int:
    """About what a member takes in memory."""
    said = sum(len(each.name) + len(each.metadata) + PROTOCOL_BYTES for each in protocols)
    return MEMBER_BYTES + len(member_id) + said


def protocols_of(request: JoinGroupRequest) -> tuple[OfferedProtocol, ...]:
    """Each name once: a second one could not be chosen."""
    offered: dict[str, bytes] = {}
    for each in request.protocols:
        offered.setdefault(each.name, each.metadata)
    return tuple(OfferedProtocol(*item) for item in offered.items())


def rebalance_timeout_of(request: JoinGroupRequest) -> int:
    """Version 0 has none of its own."""
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
    """The one that most members prefer among those that all can do; of equals, Kafka's choice."""
    supported = count_protocols(members)
    candidates = {name for name, count in supported.items() if count == len(members)}
    votes: dict[str, int] = {}
    for member in members:
        choice = member.vote(candidates)
        votes[choice] = votes.get(choice, 0) + 1
    most = max(votes.values())
    chosen = [name for name, count in votes.items() if count == most]
    return chosen[0] if len(chosen) == 1 else min(chosen, key=hash_slot)


def hash_slot(name: str) -> int:
    """Where the name is in a small hash table of Java's: the first one there wins a tied vote."""
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
