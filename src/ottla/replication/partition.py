"""One partition on this broker: its replica, and the role that the metadata gives it.

Owns      the role, which changes, and what ends with the partition.
Promises  an older state of the metadata changes nothing.
Leaves    the log, reading and syncs to `replica.py`, what leaders and followers do to
          `leader_role.py` and `follower_role.py`. Both have the same methods where others call
          them without knowing which one it is.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.base.files.filesystem import Buffer
from ottla.base.files.readers import Reader
from ottla.base.ids import NO_LEADER_EPOCH, TopicId, TopicPartition
from ottla.base.scheduling.steps import Start, Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.follower_role import FollowerRole
from ottla.replication.leader_role import LeaderListener, LeaderRole
from ottla.replication.leadership import Leadership
from ottla.replication.offset_waiters import Done, OffsetWaiter
from ottla.replication.partition_state import LeaderState
from ottla.replication.replica import Replica
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.append import ANY_CLIENT, Appended, ProducedBy
from ottla.storage.log.leader_epochs import EpochEndOffset
from ottla.storage.log.log import Log
from ottla.storage.log.preparation import Prepared
from ottla.storage.log.read_range import ReadRange


class Partition:
    __slots__ = ("_listener", "broker_id", "fetches", "name", "replica", "role", "topic_id")

    def __init__(
        self,
        name: TopicPartition,
        topic_id: TopicId,
        broker_id: int,
        partition_log: Log,
        start: Start,
        listener: LeaderListener,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.broker_id = broker_id
        self._listener = listener
        self.replica = Replica(name, topic_id, broker_id, partition_log, start)
        self.fetches = self.replica.fetches
        self.role: LeaderRole | FollowerRole = FollowerRole(self.replica)

    def __repr__(self) -> str:
        return f"Partition({self.name})"

    # The role

    def lead_or_follow(self, decided: Leadership, now_ms: int) -> None:
        """Apply a state from the metadata; an older one is ignored."""
        if decided.partition_epoch < self.replica.leadership.partition_epoch:
            return
        before, role = self.replica.apply(decided), self.role
        if decided.leader != self.broker_id:
            self._stop_leading(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif isinstance(role, LeaderRole):
            role.decided(before, now_ms)
        else:
            self._start_leading(now_ms)
        if decided.is_recovering and self.role.is_leader:
            self._listener.leads_unrecovered(self)
        self.role.advance()
        self._notify_changed()

    def _start_leading(self, now_ms: int) -> None:
        self.role = LeaderRole(
            self, self.replica, self._listener, now_ms, self.role.uncommitted_bytes
        )

    def _stop_leading(self, code: ErrorCode) -> None:
        role = self.role
        if isinstance(role, LeaderRole):
            self.role = FollowerRole(self.replica, role.uncommitted_bytes)
            role.end(code)

    def _notify_changed(self) -> None:
        self.announce()
        self.fetches.notify_followers(None)
        self._listener.low_watermark_changed(self)

    @property
    def follower(self) -> FollowerRole:
        """The role of a partition that is known to follow."""
        assert isinstance(self.role, FollowerRole), "it leads"
        return self.role

    @property
    def leader_state(self) -> LeaderState | None:
        """The leader's state. Only while this broker is the leader."""
        return self.role.state

    @property
    def is_leader(self) -> bool:
        return self.role.is_leader

    @property
    def leadership(self) -> Leadership:
        return self.replica.leadership

    @property
    def leader_epoch(self) -> int:
        return self.replica.leadership.leader_epoch

    def check_epoch(self, current_leader_epoch: int) -> None:
        """BrokerError unless the client knows the same leader, or does not say which."""
        self.replica.leadership.check_epoch(current_leader_epoch)

    def check_leader(self, current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
        """BrokerError unless this broker is the leader in the client's epoch."""
        self.role.check_leader(current_leader_epoch)

    def check_served_here(self, offset: int) -> None:
        """BrokerError if this broker is a follower that cannot know yet what a consumer finds at
        this offset. OFFSET_OUT_OF_RANGE makes it ask the leader."""
        self.role.check_served_here(offset)

    def has_led_since(self, leader_epoch: int) -> bool:
        """Whether this broker leads, and no other has led since this epoch: all that was appended
        in it is still in the log."""
        return not self.role.may_be_replaced(leader_epoch)

    @property
    def has_caught_up(self) -> bool:
        """Whether the high watermark has passed the start of this leader's epoch.

        Before that, a new leader does not know which records are committed.
        """
        return self.role.has_caught_up

    # The end

    def end_leadership(self) -> None:
        """The partition is removed from this broker, and no producer waits for it. `close`
        follows, and notifies consumers."""
        self._stop_leading(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def close(self) -> None:
        """The partition was removed from this broker: fail all waiters."""
        self._stop_leading(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self._notify_changed()

    # The log

    @property
    def log(self) -> Log:
        return self.replica.log

    def replace_log(self, other: Log) -> None:
        """Continue with a copy of the log in another directory."""
        self.replica.replace_log(other, self.role.flushed)
        self.role.advance()
        self.announce()

    def append(self, data: Buffer | Prepared, acks: int, by: ProducedBy = ANY_CLIENT) -> Appended:
        """Append one batch as leader. It may be acknowledged at once if `is_replicated` is true."""
        return self.role.append(data, acks, by)

    def report_damage(self, error: CorruptLogError) -> None:
        """Records cannot be read: another replica has them, if there is one."""
        self._listener.damage_found(self, error)

    def report_out_of_resources(self) -> None:
        """The other replicas can continue without this one."""
        self._listener.out_of_resources(self.topic_id, self.name.partition, self.leadership)

    def read(
        self,
        reader: Reader,
        offset: int,
        bytes_max: int,
        *,
        is_committed: bool,
        at_least_one: bool,
        is_follower: bool = False,
    ) -> ReadRange:
        """See `Replica.read`."""
        return self.replica.read(
            reader,
            offset,
            bytes_max,
            is_committed=is_committed,
            at_least_one=at_least_one,
            is_follower=is_follower,
        )

    def divergence(
        self, reader: Reader, last_fetched_epoch: int, offset: int
    ) -> EpochEndOffset | None:
        """See `Replica.divergence`."""
        return self.replica.divergence(reader, last_fetched_epoch, offset)

    def announce(self) -> None:
        """Notify consumers of a change that must be sent at once."""
        self.fetches.announce(self.replica.log)

    # Followers

    def check_follower(self, broker_id: int, current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
        """BrokerError unless the broker is a replica of this partition."""
        self.leadership.check_follower(broker_id, self.broker_id, current_leader_epoch)

    def follower_fetched(
        self, broker_id: int, broker_epoch: int, offset: int, log_start_offset: int, now_ms: int
    ) -> None:
        """A follower, which `check_follower` has accepted, fetches from `offset`, so it has
        everything below it. `broker_epoch` is that of its process, known to be registered."""
        assert isinstance(self.role, LeaderRole), "the caller has checked that"
        self.role.follower_fetched(broker_id, broker_epoch, offset, log_start_offset, now_ms)

    def high_watermark_sent(self, broker_id: int, high_watermark: int) -> None:
        """A response to a follower has this high watermark."""
        self.role.high_watermark_sent(broker_id, high_watermark)

    def send_followers_offsets(self) -> None:
        """Send the high watermark and the log start to followers that do not know them."""
        self.fetches.send_followers_offsets(self.replica.log.offsets)

    def notify_log_start(self) -> None:
        """Records were deleted: notify followers."""
        if self.fetches.follower_sessions:
            self._listener.log_start_advanced(self)
        self._listener.low_watermark_changed(self)

    def advance(self) -> None:
        """Compute the high watermark again."""
        self.role.advance()

    # Following

    def follow_leader(self, high_watermark: int, log_start_offset: int, size: int) -> None:
        """See `FollowerRole.follow_leader`."""
        self.follower.follow_leader(high_watermark, log_start_offset, size)

    def when_replica_synced(self, done: Done) -> None:
        """See `FollowerRole.when_replica_synced`."""
        self.follower.when_replica_synced(done)

    def truncating(self, steps: Steps[None]) -> Steps[None]:
        """Run steps that truncate the log. Meanwhile the partition does not change leadership."""
        return self.follower.truncating(steps)

    @property
    def is_truncating(self) -> bool:
        return isinstance(self.role, FollowerRole) and self.role.is_truncating

    def when_truncated(self, call: Callable[[], None]) -> None:
        self.follower.when_truncated(call)

    # Acknowledging

    def is_replicated(self, end_offset: int) -> bool:
        return end_offset <= self.replica.log.offsets.high_watermark

    async def wait_replicated(self, end_offset: int, leader_epoch: int = NO_LEADER_EPOCH) -> None:
        """Wait until everything below `end_offset` is replicated; BrokerError if it never will be.

        `leader_epoch` is that of the append. If another broker has been leader since, it may have
        replaced the records, and the high watermark says nothing about them.
        """
        await self.role.wait_replicated(end_offset, leader_epoch)

    def when_replicated(
        self, end_offset: int, done: Done, leader_epoch: int = NO_LEADER_EPOCH
    ) -> OffsetWaiter | None:
        """As `wait_replicated`, without a task. A caller that no longer waits calls `stop_waiting`
        with the result; None if `done` was called at once."""
        return self.role.when_replicated(end_offset, done, leader_epoch)

    def stop_waiting(self, waiter: OffsetWaiter) -> None:
        self.role.stop_waiting(waiter)

    def when_synced(self, end_offset: int, done: Done, leader_epoch: int = NO_LEADER_EPOCH) -> None:
        """Call `done` once everything below `end_offset` is synced on this broker, or never will
        be. `leader_epoch` is that of the append, as in `wait_replicated`."""
        if self.role.may_be_replaced(leader_epoch):
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            self.replica.when_synced(end_offset, done)

    @property
    def flush_required_to(self) -> int:
        """The offset up to which the flush policy requires a sync before acknowledging."""
        return self.replica.flush_required_to

    def needs_sync(self, end_offset: int) -> bool:
        """See `Replica.needs_sync`."""
        return self.replica.needs_sync(end_offset)

    @property
    def pending_acks(self) -> int:
        """How many wait until what was appended is replicated."""
        return self.role.pending_acks

    @property
    def has_pending_acks(self) -> bool:
        """Whether requests wait until their records are replicated."""
        return self.role.has_pending_acks
