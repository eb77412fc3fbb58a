"""The members of a classic group: static ones by instance id, pending ids, waiting requests.

Owns      the members, their waiting requests and sessions, protocol counts, the leader.
Promises  every waiting request is answered: with its result, or with an error.
Leaves    generations and states to `group.py`. All of it is soft state.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.coordinators.groups.classic.member import ClassicMember, OfferedProtocol, bytes_of
from ottla.coordinators.groups.shard_context import (
    PENDING_BYTES,
    Deadline,
    Reply,
    ShardContext,
    TimerKind,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.sync_group_response import SyncGroupResponse


class Membership:
    def __init__(self, group_id: str, context: ShardContext) -> None:
        self.group_id = group_id
        self.context = context
        self.protocol_type = ""
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.instances: dict[str, str] = {}  # member ids of static members
        self.pending: dict[str, None] = {}  # assigned ids whose clients have not joined yet
        # members that joined this generation and have not synced
        self.pending_sync: set[str] = set()
        self.joining = 0  # number of members waiting in JoinGroup
        self._supported: dict[str, int] = {}  # number of members that support each protocol
        self.held_bytes = 0  # estimated memory of the members
        self._assignment_bytes = 0

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((each.rebalance_timeout_ms for each in self.members.values()), default=0)

    @property
    def has_all_joined(self) -> bool:
        return self.joining == len(self.members) and not self.pending

    @property
    def common_protocols(self) -> set[str]:
        """The protocols that all members support."""
        count = len(self.members)
        return {name for name, members in self._supported.items() if members == count}

    def common_protocols_with(self, new: ClassicMember, old: ClassicMember) -> set[str]:
        """The protocols that all members would support if `new` replaced `old`."""
        others, offered_before = len(self.members) - 1, {each.name for each in old.protocols}
        return {
            each.name
            for each in new.protocols
            if self._supported.get(each.name, 0) - (each.name in offered_before) == others
        }

    def is_supported_by_all(self, protocol: str) -> bool:
        return self._supported.get(protocol, 0) == len(self.members)

    def elect_leader(self) -> bool:
        """The leader is kept if it has joined; False if no member has."""
        leader = self.members.get(self.leader or "")
        if leader is None or not leader.is_joining:
            joined = (each.member_id for each in self.members.values() if each.is_joining)
            chosen = next(joined, None)
            if chosen is None:
                return False
            self.leader = chosen
        return True

    def restore(self, protocol_type: str, leader: str | None) -> None:
        """Of a stored generation. In one without members none has yet to sync."""
        self.protocol_type = protocol_type
        self.leader = leader
        if not self.members:
            self.pending_sync.clear()

    # Members

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        self.members[member.member_id] = member
        self.joining += member.is_joining
        self._count(member.protocols, 1)
        self._weigh(member)
        self.leader = self.leader or member.member_id
        self.take_back(member.member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending id. Its requests were answered before."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self.joining -= member.is_joining
            self._count(member.protocols, -1)
            self._hold(-member.held_bytes)
            if member.instance_id is not None:
                self.instances.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.take_back(member_id)
        self.pending_sync.discard(member_id)
        self.context.timers.cancel(self.deadline(TimerKind.SESSION, member_id))

    def remove_all(self, member_ids: Iterable[str]) -> None:
        """Returns them in the order of the members. They are removed from the last to the first:
        finding the first remaining member, as the next leader, takes time for each one that was
        removed before it."""
        for member_id in reversed(list(member_ids)):
            self.remove(member_id)

    def replace(self, old: ClassicMember, new: ClassicMember) -> None:
        """A static member returned with a new id, which replaces the old one."""
        self.members = {
            (new if each is old else each).member_id: new if each is old else each
            for each in self.members.values()
        }
        self._count(old.protocols, -1)
        self._count(new.protocols, 1)
        self._hold(-old.held_bytes)
        self._weigh(new)
        self.joining += new.is_joining - old.is_joining
        if self.leader == old.member_id:
            self.leader = new.member_id
        if new.instance_id is not None:
            self.instances[new.instance_id] = new.member_id
        self.pending_sync.discard(old.member_id)
        self.context.timers.cancel(self.deadline(TimerKind.SESSION, old.member_id))

    def update(self, member: ClassicMember, protocols: tuple[OfferedProtocol, ...]) -> None:
        self._count(member.protocols, -1)
        member.protocols = protocols
        self._count(protocols, 1)
        self._weigh(member)

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        """BrokerError unless this is a member, and the current one of its instance id."""
        if instance_id is not None:
            holder = self.instances.get(instance_id)
            if holder is not None and holder != member_id:
                raise BrokerError(ErrorCode.FENCED_INSTANCE_ID)
            if holder is None:
                raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member_id not in self.members:
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)

    # Pending ids: assigned to clients that have not joined with them yet

    def add_pending(self, member_id: str) -> None:
        """Above the limit, the oldest pending id is dropped: its client requests another one."""
        if len(self.pending) >= self.context.config.ottla_group_members_max:
            oldest = next(iter(self.pending))
            self.take_back(oldest)
            self.context.timers.cancel(self.deadline(TimerKind.SESSION, oldest))
        self.pending[member_id] = None
        self._hold(PENDING_BYTES)

    def take_back(self, member_id: str) -> None:
        if member_id in self.pending:
            del self.pending[member_id]
            self._hold(-PENDING_BYTES)

    # Memory

    def hold_assignments(self, total_bytes: int) -> None:
        self._hold(total_bytes - self._assignment_bytes)
        self._assignment_bytes = total_bytes

    def _weigh(self, member: ClassicMember) -> None:
        before = member.held_bytes
        member.held_bytes = bytes_of(member.member_id, member.protocols)
        self._hold(member.held_bytes - before)

    def _hold(self, change: int) -> None:
        self.held_bytes += change
        self.context.usage.member_bytes += change

    def _count(self, protocols: Iterable[OfferedProtocol], change: int) -> None:
        supported = self._supported
        for each in protocols:
            count = supported.get(each.name, 0) + change
            if count:
                supported[each.name] = count
            else:  # a client may join again with other names each time
                del supported[each.name]

    # Waiting requests

    def fence(self, old: ClassicMember) -> None:
        """A client waiting with the old id is fenced: an instance id belongs to one client."""
        self.answer_join(old, self.refused_join(old, ErrorCode.FENCED_INSTANCE_ID))
        self.answer_sync(old, SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID))

    def wait_to_join(self, member: ClassicMember, reply: Reply | None) -> None:
        """An earlier request of the same member is superseded, and its client retries."""
        self.answer_join(member, self.refused_join(member, ErrorCode.REBALANCE_IN_PROGRESS))
        member.join_reply = reply
        self.joining += member.is_joining

    def wait_to_sync(self, member: ClassicMember, reply: Reply) -> None:
        self.answer_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_reply = reply

    def answer_join(self, member: ClassicMember, response: JoinGroupResponse) -> None:
        if member.join_reply is not None:
            self.context.answer(member.join_reply, response)
            member.join_reply = None
            if self.members.get(member.member_id) is member:
                self.joining -= 1

    def answer_sync(self, member: ClassicMember, response: SyncGroupResponse) -> bool:
        if member.sync_reply is None:
            return False
        self.context.answer(member.sync_reply, response)
        member.sync_reply = None
        return True

    def answer_all(self, code: ErrorCode) -> None:
        """Fail all waiting requests."""
        for member in self.members.values():
            self.answer_join(member, self.refused_join(member, code))
            self.answer_sync(member, SyncGroupResponse(error_code=code))

    @staticmethod
    def refused_join(member: ClassicMember, code: ErrorCode) -> JoinGroupResponse:
        return JoinGroupResponse(error_code=code, member_id=member.member_id)

    # Sessions

    def deadline(self, waits: TimerKind, member_id: str = "") -> Deadline:
        return Deadline(self.group_id, waits, member_id)

    def renew_session(self, member: ClassicMember, timeout_ms: int | None = None) -> None:
        wait_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
        self.context.timers.start(self.deadline(TimerKind.SESSION, member.member_id), wait_ms)

    def stop_timers(self) -> None:
        timers = self.context.timers
        for waits in (TimerKind.INITIAL_JOIN, TimerKind.JOIN, TimerKind.SYNC):
            timers.cancel(self.deadline(waits))
        for member_id in (*self.members, *self.pending):
            timers.cancel(self.deadline(TimerKind.SESSION, member_id))
