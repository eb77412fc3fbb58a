"""The rules of a leader: appending, who is in sync, and what is committed.

Owns      the high watermark while this broker leads, and the requests that wait for it.
Promises  the high watermark never decreases, and never passes records that the flush policy
          requires to be synced first; waiters are called in order of their offsets.
Leaves    the arithmetic to `partition_state.py`, waking followers to `leader_events.py`, files to
          the storage, responses to the handlers.
"""

from __future__ import annotations

from typing import Protocol

from ottla.base.files.filesystem import Buffer
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Start
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.leadership import NO_EPOCH, Leadership
from ottla.replication.partition_state import LeaderState
from ottla.replication.replica import Replica
from ottla.replication.waiting import Done, OffsetWaiter, OffsetWaiters
from ottla.storage.files.directory_health import OutOfRoom
from ottla.storage.log.append import ANY_CLIENT, Appended, ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.log.preparation import Prepared

ACKS_ALL = -1


class LeaderListener(Protocol):
    """What a leader reports about its followers; `leader_events.py` acts on it."""

    def records_appended(self, partition: LeaderReplica, size: int) -> None:
        """Followers can fetch more."""

    def high_watermark_advanced(self, partition: LeaderReplica) -> None:
        """Followers do not know yet how far records are committed."""

    def log_start_advanced(self, partition: LeaderReplica) -> None:
        """Followers do not know yet which records are deleted."""

    def low_watermark_changed(self, partition: LeaderReplica) -> None:
        """A follower has reported its log start, or the replicas or the leader have changed."""

    def follower_caught_up(self, partition: LeaderReplica) -> None:
        """A follower that is not in sync has all that it needs to be."""

    def leads_unrecovered(self, partition: LeaderReplica) -> None:
        """The controller does not know yet that the partition has recovered."""

    def out_of_room(self, topic_id: TopicId, index: int, state: Leadership) -> None:
        """This broker's replica, leader or follower, could not write."""


class LeaderReplica(Replica):
    def __init__(
        self,
        name: TopicPartition,
        topic_id: TopicId,
        broker_id: int,
        partition_log: Log,
        start: Start,
        listener: LeaderListener,
    ) -> None:
        super().__init__(name, topic_id, broker_id, partition_log, start)
        self._listener = listener
        self._leads_since_epoch = NO_EPOCH  # without another leader since
        self._acks = OffsetWaiters()

    # Leadership

    def _start_leading(self, now_ms: int) -> None:
        decided = self.leadership
        if self.leader_state is None:
            self._leads_since_epoch = decided.leader_epoch
        self.log.epochs.announce(decided.leader_epoch)
        self.leader_state = LeaderState(
            self.broker_id,
            decided.replicas,
            decided.in_sync_replicas,
            self.log.log_end_offset,
            now_ms,
        )
        self._sync_what_is_owed()

    def _sync_what_is_owed(self) -> None:
        """Of what was appended before, some may be truncated, and some not synced yet."""
        owed = self._flush_owed_to = min(self._flush_owed_to, self.log.offsets.end)
        if self.log.offsets.recovery_point < owed:
            self._commits.wait(owed, self._flushed)

    def _stop_leading(self) -> None:
        self.leader_state = None
        self._acks.fail(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    def check_leader(self, current_leader_epoch: int = NO_EPOCH) -> None:
        """BrokerError unless this broker is the leader in the client's epoch."""
        self.leadership.check_epoch(current_leader_epoch)
        if self.leader_state is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def _may_be_replaced(self, leader_epoch: int) -> bool:
        """Whether another broker is or was leader since an append in this epoch."""
        if leader_epoch == NO_EPOCH:
            return False
        return self.leader_state is None or leader_epoch < self._leads_since_epoch

    def has_led_since(self, leader_epoch: int) -> bool:
        """Whether this broker leads, and no other has led since this epoch: all that was appended
        in it is still in the log."""
        return not self._may_be_replaced(leader_epoch)

    @property
    def has_caught_up(self) -> bool:
        """Whether the high watermark has passed the start of this leader's epoch.

        Before that, a new leader does not know which records are committed.
        """
        state = self.leader_state
        return state is not None and self.log.high_watermark >= state.epoch_start_offset

    # Followers

    def check_follower(self, broker_id: int, current_leader_epoch: int = NO_EPOCH) -> None:
        """BrokerError unless the broker is a replica of this partition."""
        self.leadership.check_follower(broker_id, self.broker_id, current_leader_epoch)

    def follower_fetched(
        self, broker_id: int, broker_epoch: int, offset: int, log_start_offset: int, now_ms: int
    ) -> None:
        """A follower, which `check_follower` has accepted, fetches from `offset`, so it has
        everything below it. `broker_epoch` is that of its process, known to be registered."""
        state = self.leader_state
        assert state is not None, "the caller has checked that"
        progress = state.followers[broker_id]
        if broker_epoch < progress.broker_epoch:  # sent by a process that has ended
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        progress.broker_epoch = broker_epoch
        before, start_before = progress.log_end_offset, progress.log_start_offset
        progress.fetched(offset, log_start_offset, self.log.offsets.end, now_ms)
        if broker_id not in state.counted:
            if state.may_rejoin(broker_id, self.log.offsets.high_watermark):
                self._listener.follower_caught_up(self)
        elif offset != before:
            self.advance()
        if log_start_offset != start_before:
            self._listener.low_watermark_changed(self)

    def note_told(self, broker_id: int, high_watermark: int) -> None:
        """A response to a follower has this high watermark."""
        state = self.leader_state
        progress = None if state is None else state.followers.get(broker_id)
        if progress is not None:
            progress.told_high_watermark = high_watermark

    def tell_log_start(self) -> None:
        """Records were deleted: notify followers."""
        if self.follower_sessions:
            self._listener.log_start_advanced(self)
        self._listener.low_watermark_changed(self)

    # Appending

    def append(self, data: Buffer | Prepared, acks: int, by: ProducedBy = ANY_CLIENT) -> Appended:
        """Append one batch as leader. It may be acknowledged at once if `is_replicated` is true."""
        state = self.leader_state
        if state is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if acks == ACKS_ALL:
            count, wanted = len(state.in_sync_replicas), self.log.config.min_insync_replicas
            if count < wanted and count < self.min_in_sync_replicas:
                raise BrokerError(ErrorCode.NOT_ENOUGH_REPLICAS)
        try:
            appended = self.log.append_as_leader(data, self.leadership.leader_epoch, by)
        except OutOfRoom:
            self.report_out_of_room()
            raise
        _, _, _, is_duplicate, must_flush = appended  # attributes of a NamedTuple cost more
        if not is_duplicate:
            if must_flush:
                self._flush_owed_to = self.log.log_end_offset
                self._commits.wait(self._flush_owed_to, self._flushed)
            if state.followers:
                self._listener.records_appended(self, len(data))
            if state.needs_others:
                self._untold_bytes += len(data)
            else:
                self.advance(len(data))
        return appended

    def report_out_of_room(self) -> None:
        """Others can go on without this replica."""
        self._listener.out_of_room(self.topic_id, self.name.partition, self.leadership)

    @property
    def min_in_sync_replicas(self) -> int:
        return self.leadership.needed_in_sync(self.log.config.min_insync_replicas)

    # The high watermark

    def advance(self, size: int = 0) -> None:
        """Recompute the high watermark and call the waiters.

        `size` is that of the last append. Consumers are notified once they may read it.
        """
        state = self.leader_state
        if state is None:
            return
        size += self._untold_bytes
        log = self.log
        offsets = log.offsets
        own_end = offsets.end
        if offsets.recovery_point < self._flush_owed_to:
            own_end = min(own_end, offsets.recovery_point)
        before, wanted = offsets.high_watermark, own_end
        if state.followers:
            wanted = state.high_watermark(before, own_end, log.config.min_insync_replicas)
        if wanted <= before:
            self._untold_bytes = size
            return
        self._untold_bytes = 0
        log.update_high_watermark(wanted)
        self._acks.reached(wanted)
        if self.sessions or self.watchers:
            self.announce(size)
        if self.follower_sessions:
            self._listener.high_watermark_advanced(self)

    def _flushed(self, error: Exception | None) -> None:
        if error is None:
            self.advance()
        else:
            self._acks.fail(error)

    # Acknowledging

    def is_replicated(self, end_offset: int) -> bool:
        return end_offset <= self.log.offsets.high_watermark

    async def wait_replicated(self, end_offset: int, leader_epoch: int = NO_EPOCH) -> None:
        """Wait until everything below `end_offset` is replicated; BrokerError if it never will be.

        `leader_epoch` is that of the append. If another broker has been leader since, it may have
        replaced the records, and the high watermark says nothing about them.
        """
        if self._may_be_replaced(leader_epoch):
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if not self.is_replicated(end_offset):
            # waiters at the time of resigning were failed; later ones would never be called
            self.check_leader()
            await self._acks.wait_for(end_offset)

    def when_replicated(
        self, end_offset: int, done: Done, leader_epoch: int = NO_EPOCH
    ) -> OffsetWaiter | None:
        """As `wait_replicated`, without a task. Who no longer waits calls `stop_waiting` with the
        result; None if `done` was called at once."""
        if self._may_be_replaced(leader_epoch):
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif self.is_replicated(end_offset):
            done(None)
        elif self.leader_state is None:
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            return self._acks.add(end_offset, done)
        return None

    def stop_waiting(self, waiter: OffsetWaiter) -> None:
        self._acks.remove(waiter)

    def when_synced(self, end_offset: int, done: Done, leader_epoch: int = NO_EPOCH) -> None:
        """Call `done` once everything below `end_offset` is synced on this broker, or never will
        be. `leader_epoch` is that of the append, as in `wait_replicated`."""
        if self._may_be_replaced(leader_epoch):
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            self._commits.wait(end_offset, done)

    @property
    def owed_answers(self) -> int:
        """How many wait until what was appended is replicated."""
        return len(self._acks)

    @property
    def owes_answers(self) -> bool:
        """Whether requests wait until their records are replicated."""
        return bool(self._acks)
