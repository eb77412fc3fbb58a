"""The role of a leader: appending, the in-sync replicas, and what is committed.

Owns      the high watermark while this broker leads, what it knows of its followers, and the
          requests that wait for them. One object for as long as no other broker leads, over all its
          epochs: a sync that still runs for an earlier leadership does not affect a later one.
Promises  the high watermark never decreases, and never passes records that the flush policy
          requires to be synced first; waiters are called in order of their offsets.
Leaves    the arithmetic to `partition_state.py`, waking followers to `leader_events.py`, files to
          the storage, responses to the handlers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ottla.base.files.filesystem import Buffer
from ottla.base.ids import NO_LEADER_EPOCH, TopicId
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.leadership import Leadership
from ottla.replication.offset_waiters import Done, OffsetWaiter, OffsetWaiters
from ottla.replication.partition_state import LeaderState
from ottla.replication.replica import Replica
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.directory_health import OutOfResources
from ottla.storage.log.append import Appended, ProducedBy
from ottla.storage.log.preparation import Prepared

if TYPE_CHECKING:
    from ottla.replication.partition import Partition

ACKS_ALL = -1


DamageListener = Callable[["Partition", CorruptLogError], None]


class LeaderListener(Protocol):
    """What a leader reports about its followers, and any replica about its own records;
    `leader_events.py` acts on it."""

    def records_appended(self, partition: Partition, size: int) -> None:
        """Followers can fetch more."""

    def high_watermark_advanced(self, partition: Partition) -> None:
        """Followers do not know yet how far records are committed."""

    def log_start_advanced(self, partition: Partition) -> None:
        """Followers do not know yet which records are deleted."""

    def low_watermark_changed(self, partition: Partition) -> None:
        """A follower has reported its log start, or the replicas or the leader have changed."""

    def follower_caught_up(self, partition: Partition) -> None:
        """A follower that is not in sync has all that it needs to be."""

    def leads_unrecovered(self, partition: Partition) -> None:
        """The controller does not know yet that the partition has recovered."""

    def damage_found(self, partition: Partition, error: CorruptLogError) -> None:
        """Records of this broker's replica, leader or follower, cannot be read."""

    def on_damage(self, listener: DamageListener) -> None:
        """Call `listener` whenever damage is found."""

    def out_of_resources(self, topic_id: TopicId, index: int, state: Leadership) -> None:
        """This broker's replica, leader or follower, could not write."""


class LeaderRole:
    __slots__ = (
        "_acks", "_leads_since_epoch", "_listener", "_partition", "replica", "state",
        "uncommitted_bytes",
    )  # fmt: skip
    is_leader = True

    def __init__(
        self,
        partition: Partition,
        replica: Replica,
        listener: LeaderListener,
        now_ms: int,
        uncommitted_bytes: int,
    ) -> None:
        """The partition is only passed on to the listener."""
        self._partition = partition
        self.replica = replica
        self._listener = listener
        self._leads_since_epoch = replica.leadership.leader_epoch  # without another leader since
        self._acks = OffsetWaiters()
        self.uncommitted_bytes = uncommitted_bytes  # appended, but above the high watermark
        self.state = self._begin_epoch(now_ms)

    # Leadership

    def _begin_epoch(self, now_ms: int) -> LeaderState:
        replica, decided = self.replica, self.replica.leadership
        replica.log.epochs.announce(decided.leader_epoch)
        replica.sync_required(self.flushed)
        return LeaderState(
            replica.broker_id,
            decided.replicas,
            decided.in_sync_replicas,
            replica.log.log_end_offset,
            now_ms,
        )

    def decided(self, before: Leadership, now_ms: int) -> None:
        """This broker continues to lead, perhaps in a new epoch."""
        decided = self.replica.leadership
        if decided.leader_epoch != before.leader_epoch:
            self.state = self._begin_epoch(now_ms)
        else:
            # What it has in another directory is known when it fetches again.
            self.state.forget_progress(decided.moved_since(before))
            self.state.update(decided.replicas, decided.in_sync_replicas, now_ms)

    def end(self, code: ErrorCode) -> None:
        """Another broker leads, or none: waiting requests get this error."""
        self._acks.fail(BrokerError(code))

    def check_leader(self, current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
        self.replica.leadership.check_epoch(current_leader_epoch)

    def check_served_here(self, offset: int) -> None:
        """A leader knows what is committed."""

    def may_be_replaced(self, leader_epoch: int) -> bool:
        """Whether another broker was leader since an append in this epoch."""
        return leader_epoch != NO_LEADER_EPOCH and leader_epoch < self._leads_since_epoch

    @property
    def has_caught_up(self) -> bool:
        return self.replica.log.high_watermark >= self.state.epoch_start_offset

    # Followers

    def follower_fetched(
        self, broker_id: int, broker_epoch: int, offset: int, log_start_offset: int, now_ms: int
    ) -> None:
        state, offsets = self.state, self.replica.log.offsets
        progress = state.followers[broker_id]
        if broker_epoch < progress.broker_epoch:  # sent by a process that has ended
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        progress.broker_epoch = broker_epoch
        before, start_before = progress.log_end_offset, progress.log_start_offset
        progress.fetched(offset, log_start_offset, offsets.end, now_ms)
        if broker_id not in state.counted:
            if state.may_rejoin(broker_id, offsets.high_watermark):
                self._listener.follower_caught_up(self._partition)
        elif offset != before:
            self.advance()
        if log_start_offset != start_before:
            self._listener.low_watermark_changed(self._partition)

    def high_watermark_sent(self, broker_id: int, high_watermark: int) -> None:
        progress = self.state.followers.get(broker_id)
        if progress is not None:
            progress.sent_high_watermark = high_watermark

    # Appending

    def append(self, data: Buffer | Prepared, acks: int, by: ProducedBy) -> Appended:
        state, replica = self.state, self.replica
        log, leadership = replica.log, replica.leadership
        if acks == ACKS_ALL:
            count, wanted = len(state.in_sync_replicas), log.config.min_insync_replicas
            if count < wanted and count < leadership.needed_in_sync(wanted):
                raise BrokerError(ErrorCode.NOT_ENOUGH_REPLICAS)
        try:
            appended = log.append_as_leader(data, leadership.leader_epoch, by)
        except OutOfResources:
            self._partition.report_out_of_resources()
            raise
        _, _, _, is_duplicate, must_flush = appended  # attributes of a NamedTuple cost more
        if not is_duplicate:
            if must_flush:
                replica.require_sync(self.flushed)
            if state.followers:
                self._listener.records_appended(self._partition, len(data))
            if state.needs_others:
                self.uncommitted_bytes += len(data)
            else:
                self.advance(len(data))
        return appended

    # The high watermark

    def advance(self, size: int = 0) -> None:
        """Recompute the high watermark and call the waiters.

        `size` is that of the last append. Consumers are notified once they may read it.
        """
        state, replica = self.state, self.replica
        size += self.uncommitted_bytes
        log = replica.log
        offsets = log.offsets
        own_end = offsets.end
        if offsets.recovery_point < replica.flush_required_to:
            own_end = min(own_end, offsets.recovery_point)
        before, wanted = offsets.high_watermark, own_end
        if state.followers:
            wanted = state.high_watermark(before, own_end, log.config.min_insync_replicas)
        if wanted <= before:
            self.uncommitted_bytes = size
            return
        self.uncommitted_bytes = 0
        log.update_high_watermark(wanted)
        self._acks.reached(wanted)
        fetches = replica.fetches
        if fetches.sessions or fetches.watchers:
            fetches.announce(log, size)
        if fetches.follower_sessions:
            self._listener.high_watermark_advanced(self._partition)

    def flushed(self, error: Exception | None) -> None:
        """A sync that the flush policy requires has ended. Of an earlier leadership, it changes
        nothing: the high watermark is that of the role that the partition has now."""
        if self._partition.role is not self:
            return
        if error is None:
            self.advance()
        else:
            if isinstance(error, OutOfResources):
                self._partition.report_out_of_resources()
            self._acks.fail(error)

    # Acknowledging

    async def wait_replicated(self, end_offset: int, leader_epoch: int) -> None:
        if self.may_be_replaced(leader_epoch):
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if not self.replica.is_replicated(end_offset):
            await self._acks.wait_for(end_offset)

    def when_replicated(
        self, end_offset: int, done: Done, leader_epoch: int
    ) -> OffsetWaiter | None:
        if self.may_be_replaced(leader_epoch):
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif self.replica.is_replicated(end_offset):
            done(None)
        else:
            return self._acks.add(end_offset, done)
        return None

    def stop_waiting(self, waiter: OffsetWaiter) -> None:
        self._acks.remove(waiter)

    @property
    def pending_acks(self) -> int:
        return len(self._acks)

    @property
    def has_pending_acks(self) -> bool:
        return bool(self._acks)
