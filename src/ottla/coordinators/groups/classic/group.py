"""A classic group: its members, its generation, and where it is between two of them.

Owns      the members and their waiting requests, the votes for a protocol, the leader.
Promises  what its last record says (`stored`) is all that survives a restart; everything else is
          soft: a rebalance under way, who waits, sessions.
Leaves    when to rebalance to `rebalance.py`, requests to `joining.py`, `syncing.py`, `leaving.py`.

A group that only holds offsets ("simple") has no record, no members and no protocol type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from typing import NamedTuple

from ottla.coordinators.groups.classic.member import (
    ClassicMember,
    OfferedProtocol,
    count_protocols,
)
from ottla.coordinators.groups.embedded_protocol import CONSUMER_PROTOCOL, decode_subscribed_topics
from ottla.coordinators.groups.group import CLASSIC, CommitBy, ExpiryStart, PartitionCheck
from ottla.coordinators.groups.record_types import tombstone
from ottla.coordinators.groups.shared import Deadline, Reply, Shared, Waits
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, MalformedMessage
from ottla.protocol.messages.group_metadata_key import GroupMetadataKey
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.sync_group_response import SyncGroupResponse


class State(Enum):
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"  # waiting for members to join
    COMPLETING_REBALANCE = "CompletingRebalance"  # waiting for the leader's assignment
    STABLE = "Stable"
    DEAD = "Dead"


class Returning(NamedTuple):
    """A static member's client that came back: its new id, in the place of the old one."""

    old: ClassicMember
    new: ClassicMember
    version: int  # of its request


class ClassicGroup:
    group_type = CLASSIC

    def __init__(self, group_id: str, shared: Shared) -> None:
        self.group_id = group_id
        self.shared = shared
        self.stored: GroupMetadataValue | None = None
        self.state = State.EMPTY
        self.is_first_rebalance = False  # it began empty: more members may be on their way
        self.has_new_member = False  # since the first rebalance was last put off
        self.first_wait_ms = 0  # for how long it may still be put off
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.instances: dict[str, str] = {}  # member ids of static members
        self.pending: set[str] = set()  # ids that were given away and have not come back yet
        self.pending_sync: set[str] = set()  # joined this generation, and not yet synced
        self.joining = 0  # members that wait for the others to join
        self.subscribed: frozenset[str] | None = None  # topics, where that is known
        self.returning: Returning | None = None  # while its record is being written
        self._supported: dict[str, int] = {}  # members that can do each protocol

    # What it is.

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is State.EMPTY

    @property
    def is_abandoned(self) -> bool:
        return self.is_empty and not self.pending

    @property
    def is_simple(self) -> bool:
        return not self.protocol_type and self.is_abandoned

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((each.rebalance_timeout_ms for each in self.members.values()), default=0)

    @property
    def has_all_joined(self) -> bool:
        return self.joining == len(self.members) and not self.pending

    def is_subscribed(self, topic: str) -> bool:
        if self.subscribed is None:
            return self.uses_consumer_protocol  # not known, so it may be
        return topic in self.subscribed

    def supports(self, protocol_type: str, names: Collection[str]) -> bool:
        """Whether a member with these protocols could agree with all others on one."""
        if self.is_empty:
            return bool(protocol_type and names)
        count = len(self.members)
        return protocol_type == self.protocol_type and any(
            self._supported.get(name, 0) == count for name in names
        )

    # Its members.

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        self.members[member.member_id] = member
        self.joining += member.is_joining
        self._count(member.protocols, 1)
        self.leader = self.leader or member.member_id
        self.pending.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Forget a member or an id that was given away. Whoever waits is answered before."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self.joining -= member.is_joining
            self._count(member.protocols, -1)
            if member.instance_id is not None:
                self.instances.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending.discard(member_id)
        self.pending_sync.discard(member_id)
        self.shared.timers.cancel(self.deadline(Waits.SESSION, member_id))

    def replace(self, old: ClassicMember, new: ClassicMember) -> None:
        """A static member came back under a new id: it takes over the place of the old one."""
        self.members = {
            (new if each is old else each).member_id: new if each is old else each
            for each in self.members.values()
        }
        self._count(old.protocols, -1)
        self._count(new.protocols, 1)
        self.joining += new.is_joining - old.is_joining
        if self.leader == old.member_id:
            self.leader = new.member_id
        if new.instance_id is not None:
            self.instances[new.instance_id] = new.member_id
        self.pending_sync.discard(old.member_id)
        self.shared.timers.cancel(self.deadline(Waits.SESSION, old.member_id))

    def update(self, member: ClassicMember, protocols: tuple[OfferedProtocol, ...]) -> None:
        self._count(member.protocols, -1)
        member.protocols = protocols
        self._count(protocols, 1)

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        """BrokerError unless this is a member, and the one that holds the instance id."""
        if instance_id is not None:
            holder = self.instances.get(instance_id)
            if holder is not None and holder != member_id:
                raise BrokerError(ErrorCode.FENCED_INSTANCE_ID)
            if holder is None:
                raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member_id not in self.members:
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)

    def _count(self, protocols: Iterable[OfferedProtocol], change: int) -> None:
        for each in protocols:
            self._supported[each.name] = self._supported.get(each.name, 0) + change

    def recount(self) -> None:
        self._supported = dict(count_protocols(self.members.values()))

    # Who waits.

    def fence(self, old: ClassicMember) -> None:
        """Whoever still waits under an old id must end: two with one instance id would fight."""
        self.answer_join(old, self.refused_join(old, ErrorCode.FENCED_INSTANCE_ID))
        self.answer_sync(old, SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID))

    def wait_to_join(self, member: ClassicMember, reply: Reply | None) -> None:
        """An earlier request of the same member is out of date, and its client is told to retry."""
        self.answer_join(member, self.refused_join(member, ErrorCode.REBALANCE_IN_PROGRESS))
        member.join_reply = reply
        self.joining += member.is_joining

    def wait_to_sync(self, member: ClassicMember, reply: Reply) -> None:
        self.answer_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_reply = reply

    def answer_join(self, member: ClassicMember, response: JoinGroupResponse) -> None:
        if member.join_reply is not None:
            self.shared.answer(member.join_reply, response)
            member.join_reply = None
            if self.members.get(member.member_id) is member:
                self.joining -= 1

    def answer_sync(self, member: ClassicMember, response: SyncGroupResponse) -> bool:
        if member.sync_reply is None:
            return False
        self.shared.answer(member.sync_reply, response)
        member.sync_reply = None
        return True

    def answer_all(self, code: ErrorCode) -> None:
        """Nobody can wait any longer."""
        for member in self.members.values():
            self.answer_join(member, self.refused_join(member, code))
            self.answer_sync(member, SyncGroupResponse(error_code=code))

    @staticmethod
    def refused_join(member: ClassicMember, code: ErrorCode) -> JoinGroupResponse:
        return JoinGroupResponse(error_code=code, member_id=member.member_id)

    # Time.

    def deadline(self, waits: Waits, member_id: str = "") -> Deadline:
        return Deadline(self.group_id, waits, member_id)

    def renew_session(self, member: ClassicMember, timeout_ms: int | None = None) -> None:
        wait_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
        self.shared.timers.start(self.deadline(Waits.SESSION, member.member_id), wait_ms)

    def stop_timers(self) -> None:
        timers = self.shared.timers
        for waits in (Waits.INITIAL_JOIN, Waits.JOIN, Waits.SYNC):
            timers.cancel(self.deadline(waits))
        for member_id in (*self.members, *self.pending):
            timers.cancel(self.deadline(Waits.SESSION, member_id))

    # What every group can be asked.

    def check_commit(self, by: CommitBy) -> PartitionCheck | None:
        if by.epoch < 0 and self.is_empty:
            return None
        if not by.is_anonymous:
            self.check_member(by.member_id, by.instance_id)
            if by.epoch != self.generation:
                raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
        elif not by.is_transactional:
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not by.is_transactional and self.state is State.COMPLETING_REBALANCE:
            # It has the new generation but no assignment in it yet.
            raise BrokerError(ErrorCode.REBALANCE_IN_PROGRESS)
        return None

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Anybody may."""

    def check_offset_delete(self) -> None:
        if not self.is_empty and not self.uses_consumer_protocol:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        if not self.is_empty:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_start(self) -> ExpiryStart | None:
        stored = self.stored
        if self.protocol_type and self.is_empty:
            since_ms = stored.current_state_timestamp if stored is not None else -1
            return lambda committed: committed.commit_ms if since_ms < 0 else since_ms
        is_aware = self.uses_consumer_protocol and self.subscribed is not None
        if not self.protocol_type or (is_aware and self.state is State.STABLE):
            return lambda committed: committed.commit_ms
        return None

    def tombstones(self) -> list[CoordinatorRecord]:
        """Also for a group that only held offsets: Kafka keeps it until it reads this."""
        return [tombstone(GroupMetadataKey(self.group_id))]

    # What the members subscribe to.

    def note_subscriptions(self) -> None:
        """Take over the subscribed topics of a new generation, where they can be read."""
        if not self.uses_consumer_protocol:
            self.subscribed = None
            return
        try:
            self.subscribed = frozenset(
                topic
                for member in self.members.values()
                for topic in decode_subscribed_topics(member.metadata(self.protocol))
            )
        except (MalformedMessage, KeyError):
            self.subscribed = None
