"""The groups and offsets of one partition of `__consumer_offsets`.

Owns      the state that results from the partition's records, and the soft state of the groups.
Promises  replaying the records gives the same state, except for soft state: rebalances in progress,
          waiting requests, timers. Those are restarted when a shard is loaded.
Leaves    reading and writing the log to the runtime, requests to the `*_api.py` modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.batches import Writer
from ottla.coordinators.groups import consumer_api
from ottla.coordinators.groups.classic import rebalance, stored
from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.classic.joining import size_max_of
from ottla.coordinators.groups.committed_offsets import CommittedOffsets
from ottla.coordinators.groups.consumer.classic_members import renew_session
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.kinds import ConsumerKey, GroupKey, MemberKey
from ottla.coordinators.groups.consumer.member import MemberState
from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.shard_context import (
    GROUP_BYTES,
    Deadline,
    PostedResponse,
    ShardContext,
    TimerKind,
)
from ottla.coordinators.records import CoordinatorRecord
from ottla.coordinators.shard import Shard
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message
from ottla.protocol.messages.group_metadata_key import GroupMetadataKey
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue
from ottla.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from ottla.protocol.messages.offset_commit_key import OffsetCommitKey

Records = list[CoordinatorRecord]
MEMBER_WAITS = (
    TimerKind.SESSION,
    TimerKind.REVOCATION,
    TimerKind.MEMBER_JOIN,
    TimerKind.MEMBER_SYNC,
)


class GroupShard:
    def __init__(self, context: ShardContext) -> None:
        self.context = context
        self.offsets = CommittedOffsets(context.usage)
        self.groups: dict[str, ClassicGroup | ConsumerGroup] = {}
        self.deleting: set[str] = set()  # groups whose offsets are being deleted in slices

    # Reading

    def find(self, group_id: str) -> Group | None:
        """The group; one without a record exists from its first offset until it is deleted."""
        group = self.groups.get(group_id)
        if group is None and self.offsets.has_group(group_id):
            return ClassicGroup(group_id, self.context)
        return group

    def check_usable(self, group_id: str) -> None:
        """BrokerError while the group is being deleted: clients retry, and create a new one."""
        if group_id in self.deleting:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def group_ids(self) -> Iterator[str]:
        """Each group once; a snapshot."""
        with_members, with_offsets = dict(self.groups), self.offsets.group_ids()
        yield from with_members
        yield from (each for each in with_offsets if each not in with_members)

    def all_groups(self) -> Iterator[Group]:
        found = (self.find(group_id) for group_id in self.group_ids())
        return (group for group in found if group is not None)

    # Applying records

    def apply(self, record: CoordinatorRecord, writer: Writer, offset: int) -> None:
        key = record.key
        if isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey):
            self.offsets.apply(key, record.value, writer.producer_id, offset)  # type: ignore[arg-type]
        elif isinstance(key, GroupMetadataKey):
            self._apply_classic(key.group, record.value)  # type: ignore[arg-type]
        elif isinstance(key, ConsumerKey):
            self._apply_consumer(key, record.value)

    def apply_marker(self, writer: Writer, is_commit: bool) -> None:
        self.offsets.apply_marker(writer.producer_id, is_commit)

    def _apply_classic(self, group_id: str, value: GroupMetadataValue | None) -> None:
        group = self.groups.get(group_id)
        if value is None:
            self.offsets.group_deleted(group_id)
            if isinstance(group, ClassicGroup):
                self._drop(group)
                group.membership.stop_timers()
                group.end()
            return
        if not isinstance(group, ClassicGroup):
            if group is not None:
                self._drop(group)
            group = ClassicGroup(group_id, self.context)
            self._put(group)
        stored.apply(group, value)

    def _put(self, group: ClassicGroup | ConsumerGroup) -> None:
        self.groups[group.group_id] = group
        self.context.usage.member_bytes += GROUP_BYTES

    def _drop(self, group: ClassicGroup | ConsumerGroup) -> None:
        """Release its memory."""
        del self.groups[group.group_id]
        self.context.usage.member_bytes -= GROUP_BYTES + group.held_bytes

    def _apply_consumer(self, key: ConsumerKey, value: Message | None) -> None:
        group = self.groups.get(key.group_id)
        if not isinstance(group, ConsumerGroup):
            if value is None:
                return  # of a deleted group
            if group is not None:
                self._drop(group)
            group = ConsumerGroup(key.group_id)
            self._put(group)
        before = group.held_bytes
        group.apply(key, value)
        self.context.usage.member_bytes += group.held_bytes - before
        if value is None:
            self._forget(key)

    def _forget(self, key: ConsumerKey) -> None:
        """A member or a group was removed: cancel its timers and pending work."""
        if isinstance(key, MemberKey):
            for waits in MEMBER_WAITS:
                self.context.timers.cancel(Deadline(key.group_id, waits, key.member_id))
        elif isinstance(key, GroupKey):
            self.offsets.group_deleted(key.group_id)
            self._drop(self.groups[key.group_id])
            self.context.checked.pop(key.group_id, None)

    def end_step(self, refusal: ErrorCode | None = None) -> Sequence[PostedResponse]:
        return self.context.end_step(refusal)

    def cancel_step(self) -> None:
        self.context.cancel_step()

    # Loading and unloading

    def loaded(self, now_ms: int) -> Steps[None]:  # noqa: ARG002  # timers have their own clock
        """Start the sessions of the members."""
        for group in list(self.groups.values()):
            if isinstance(group, ClassicGroup):
                yield from self._watch_classic(group)
            else:
                yield from self._watch_consumers(group)
            yield 0

    def _watch_classic(self, group: ClassicGroup) -> Steps[None]:
        for member in list(group.members.values()):
            group.membership.renew_session(member)
            yield 0
        size_max = size_max_of(self.context.config)
        if len(group.members) > size_max:
            # The limit was lowered: a rebalance lets members commit before some are removed.
            rebalance.prepare_rebalance(group, f"more than {size_max} members")

    def _watch_consumers(self, group: ConsumerGroup) -> Steps[None]:
        for member in list(group.members.values()):
            yield 0
            renew_session(self.context, group.group_id, member)
            if member.state is MemberState.UNREVOKED_PARTITIONS and not member.speaks_classic:
                deadline = Deadline(group.group_id, TimerKind.REVOCATION, member.member_id)
                self.context.timers.start(deadline, member.rebalance_timeout_ms)

    def unloaded(self) -> Steps[None]:
        """Another broker is the coordinator now."""
        self.context.timers.clear()
        self.offsets.dropped()
        for group in list(self.groups.values()):
            self._drop(group)
            if isinstance(group, ClassicGroup):
                group.membership.answer_all(ErrorCode.NOT_COORDINATOR)
                group.end()
            for posted in self.context.take_posted():
                posted.give()
                yield 0
            yield 0

    # Timers

    def expire(self, deadline: Deadline) -> Records:
        group = self.groups.get(deadline.group_id)
        if group is None:
            return []
        if isinstance(group, ConsumerGroup):
            return consumer_api.expire(self, group, deadline)
        match deadline.waits:
            case TimerKind.SESSION:
                return rebalance.expire_session(group, deadline.member_id)
            case TimerKind.SYNC:
                return rebalance.expire_sync(group)
            case TimerKind.JOIN | TimerKind.INITIAL_JOIN:
                return rebalance.expire_join(group)
            case _:
                return []


LoadedShard = Shard[GroupShard]
