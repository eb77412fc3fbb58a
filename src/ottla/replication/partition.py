"""One partition on this broker: its log, its leadership, and its high watermark.

Owns      leadership and epochs according to the metadata log, and advancing the high watermark.
Promises  the high watermark never decreases, and never passes records that the flush policy
          requires to be synced first; waiters are called in order of their offsets.
Leaves    the arithmetic to `partition_state.py`, files to the storage, responses to the handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ottla.base.files.filesystem import Buffer
from ottla.base.files.readers import CACHED, Reader
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Start, Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition_state import LeaderState
from ottla.replication.waiting import Done, OffsetWaiter, OffsetWaiters
from ottla.storage.log.append import ANY_CLIENT, Appended, ProducedBy
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.leader_epochs import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EpochEndOffset
from ottla.storage.log.log import Log
from ottla.storage.log.preparation import Prepared
from ottla.storage.log.reading import ReadRange

if TYPE_CHECKING:
    from ottla.replication.fetch_sessions import FetchKey, FetchSession, Watcher


ACKS_ALL = -1
NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class Leadership:
    """The state of a partition according to the metadata."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Sequence[int]
    in_sync_replicas: Sequence[int]
    is_recovering: bool = False  # elected uncleanly, and not yet recovered
    directories: Sequence[bytes] = ()  # of the replicas

    def moved_since(self, before: Leadership) -> frozenset[int]:
        """Replicas whose directory is another than before."""
        known = dict(zip(before.replicas, before.directories, strict=False))
        now = zip(self.replicas, self.directories, strict=False)
        return frozenset(each for each, directory in now if known.get(each, directory) != directory)


class LeaderListener(Protocol):
    """What a leader reports about its followers; `leader_events.py` acts on it."""

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


class FollowerWatch:
    """What fetches of followers without a session wait for: anything appended."""

    __slots__ = ("watchers",)

    def __init__(self) -> None:
        self.watchers: set[Watcher] = set()


class Partition:
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
        self.log = partition_log
        self.leadership = Leadership(-1, NO_EPOCH, NO_EPOCH, (), ())
        self.leader_state: LeaderState | None = None  # only while this broker is the leader
        self._leads_since_epoch = NO_EPOCH  # without another leader since
        self.watchers: set[Watcher] = set()
        # notified of changes; owned by `FetchSessions`
        self.sessions: dict[FetchSession, FetchKey] = {}  # of consumers
        self.follower_sessions: dict[FetchSession, FetchKey] = {}
        self.follower_watch = FollowerWatch()
        self._listener = listener
        self._after_truncation: list[Callable[[], None]] | None = None  # while one is under way
        self._acks = OffsetWaiters()
        self._start = start
        self._commits = GroupCommit(partition_log, start)
        self._told_stable_offset = -1
        self._flush_owed_to = 0  # the flush policy requires syncing up to here first
        self._untold_bytes = 0  # appended, but above the high watermark

    def __repr__(self) -> str:
        return f"Partition({self.name})"

    # Leadership

    @property
    def leader_epoch(self) -> int:
        return self.leadership.leader_epoch

    @property
    def is_leader(self) -> bool:
        return self.leader_state is not None

    def lead_or_follow(self, decided: Leadership, now_ms: int) -> None:
        """Apply a state from the metadata; an older one is ignored."""
        if decided.partition_epoch < self.leadership.partition_epoch:
            return
        is_new_epoch = decided.leader_epoch != self.leadership.leader_epoch
        moved = decided.moved_since(self.leadership)
        self.leadership = decided
        if decided.leader != self.broker_id:
            self._stop_leading()
        elif is_new_epoch or self.leader_state is None:
            self._start_leading(now_ms)
        else:
            # What it has in another directory is known when it fetches again.
            self.leader_state.forget_progress(moved)
            self.leader_state.update(decided.replicas, decided.in_sync_replicas, now_ms)
        if decided.is_recovering and self.leader_state is not None:
            self._listener.leads_unrecovered(self)
        self.advance()
        self.announce()
        self.notify_followers(None)
        self._listener.low_watermark_changed(self)

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
        self.check_epoch(current_leader_epoch)
        if self.leader_state is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def check_epoch(self, current_leader_epoch: int) -> None:
        """BrokerError unless the client knows the same leader, or does not say which."""
        if current_leader_epoch != NO_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                raise BrokerError(ErrorCode.FENCED_LEADER_EPOCH)
            if current_leader_epoch > self.leader_epoch:
                raise BrokerError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def check_served_here(self, offset: int) -> None:
        """BrokerError if this broker is a follower that cannot know yet what a consumer finds at
        this offset. OFFSET_OUT_OF_RANGE makes it ask the leader."""
        offsets = self.log.offsets
        if self.leader_state is None and offset > offsets.high_watermark:
            is_copied = offset <= offsets.end
            code = ErrorCode.OFFSET_NOT_AVAILABLE if is_copied else ErrorCode.OFFSET_OUT_OF_RANGE
            raise BrokerError(code)

    # Followers

    def check_follower(self, broker_id: int, current_leader_epoch: int = NO_EPOCH) -> None:
        """BrokerError unless the broker is a replica of this partition."""
        if broker_id == self.broker_id or broker_id not in self.leadership.replicas:
            # With an epoch: this broker's list of replicas may be out of date.
            is_known = current_leader_epoch < 0
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_LEADER_EPOCH
            raise BrokerError(code)

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

    def follow_leader(self, high_watermark: int, log_start_offset: int, size: int) -> None:
        """Apply what the leader has told with its records, of which `size` bytes were appended.

        The high watermark of a new leader may be lower for a short time than the one that the last
        leader told: it stays, so that no consumer sees it go back.
        """
        log, offsets = self.log, self.log.offsets
        before = offsets.high_watermark
        self._untold_bytes += size
        if high_watermark > before:
            log.update_high_watermark(high_watermark)
        if offsets.start < log_start_offset <= offsets.high_watermark:
            log.advance_log_start(log_start_offset)
        if offsets.high_watermark > before:
            size, self._untold_bytes = self._untold_bytes, 0
            self.announce(size)

    def truncating(self, steps: Steps[None]) -> Steps[None]:
        """Run steps that truncate the log. Meanwhile the partition does not change leadership."""
        assert self._after_truncation is None, "one at a time"
        self._after_truncation = []
        try:
            yield from steps
        finally:
            waiting, self._after_truncation = self._after_truncation, None
            for each in waiting:
                each()

    @property
    def is_truncating(self) -> bool:
        return self._after_truncation is not None

    def when_truncated(self, call: Callable[[], None]) -> None:
        assert self._after_truncation is not None
        self._after_truncation.append(call)

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
        appended = self.log.append_as_leader(data, self.leadership.leader_epoch, by)
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

    @property
    def min_in_sync_replicas(self) -> int:
        return min(self.log.config.min_insync_replicas, max(1, len(self.leadership.replicas)))

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
    def flush_owed_to(self) -> int:
        """The offset up to which the flush policy requires a sync before acknowledging."""
        return self._flush_owed_to

    def replace_log(self, other: Log) -> None:
        """Continue with a copy of the log in another directory."""
        self.log = other
        self._commits = GroupCommit(other, self._start)
        if other.recovery_point < self._flush_owed_to:
            self._commits.wait(self._flush_owed_to, self._flushed)
        self.advance()
        self.announce()

    def owes_sync(self, end_offset: int) -> bool:
        """Whether the flush policy requires a sync before these records are acknowledged."""
        synced = self.log.offsets.recovery_point
        return synced < self._flush_owed_to and synced < end_offset

    def when_synced(self, end_offset: int, done: Done, leader_epoch: int = NO_EPOCH) -> None:
        """Call `done` once everything below `end_offset` is synced on this broker, or never will
        be. `leader_epoch` is that of the append, as in `wait_replicated`."""
        if self._may_be_replaced(leader_epoch):
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            self._commits.wait(end_offset, done)

    def when_own_synced(self, done: Done) -> None:
        """Call `done` once all that a follower has appended is synced here, or never will be. If
        it becomes the leader before, the records are not committed without the sync."""
        self._flush_owed_to = self.log.offsets.end
        self._commits.wait(self._flush_owed_to, done)

    def _flushed(self, error: Exception | None) -> None:
        if error is None:
            self.advance()
        else:
            self._acks.fail(error)

    # Reading

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
        """Records for a consumer: below the high watermark, or below the last stable offset; for a
        follower, all."""
        log = self.log
        if is_follower:
            end_offset = log.offsets.end
        elif is_committed:
            end_offset = log.last_stable_offset(reader)
        else:
            end_offset = log.offsets.high_watermark
        return log.read(
            reader,
            offset,
            bytes_max,
            end_offset,
            at_least_one=at_least_one,
            with_aborted=is_committed,
        )

    def divergence(
        self, reader: Reader, last_fetched_epoch: int, offset: int
    ) -> EpochEndOffset | None:
        """The offset at which a client's log diverges from this one; None if it does not
        (KIP-320)."""
        epochs = self.log.epochs.load(reader)
        end = epochs.end_offset_for(last_fetched_epoch, self.log.log_end_offset)
        if end.end_offset == UNDEFINED_OFFSET or end.epoch == UNDEFINED_EPOCH:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{self.name}: nothing is known of leader epoch {last_fetched_epoch}",
            )
        return end if end.epoch < last_fetched_epoch or end.end_offset < offset else None

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

    def notify_session(self, session: FetchSession, key: FetchKey) -> bool:
        """Notify the session from now on; False if it is closed or has removed the partition."""
        if session.is_closed or key not in session.partitions:
            return False
        (self.follower_sessions if session.is_follower else self.sessions)[session] = key
        return True

    def forget_session(self, session: FetchSession) -> None:
        (self.follower_sessions if session.is_follower else self.sessions).pop(session, None)

    def notify_followers(self, size: int | None) -> None:
        """There is more to fetch; without a size, of a change that must be sent at once."""
        for session, key in self.follower_sessions.items():
            session.changed(key, size)
        for watcher in list(self.follower_watch.watchers):
            if size is None:
                watcher.wake()
            else:
                watcher.data_arrived(size, is_stable=True)

    def tell_followers_offsets(self) -> None:
        """Send the high watermark and the log start to followers that do not know them."""
        offsets = self.log.offsets
        for session, key in self.follower_sessions.items():
            session.offsets_advanced(key, offsets.high_watermark, offsets.start)

    def tell_log_start(self) -> None:
        """Records were deleted: notify followers."""
        if self.follower_sessions:
            self._listener.log_start_advanced(self)
        self._listener.low_watermark_changed(self)

    def announce(self, size: int | None = None) -> None:
        """Notify consumers of new data; without a size, of a change that must be sent at once."""
        if not self.sessions and not self.watchers:
            return
        is_stable = size is None or self._has_more_stable()
        for session, key in self.sessions.items():
            session.changed(key, size, is_stable=is_stable)
        for watcher in list(self.watchers):
            if size is None:
                watcher.wake()
            else:
                watcher.data_arrived(size, is_stable=is_stable)

    def _has_more_stable(self) -> bool:
        """Whether the last stable offset has advanced since consumers were last notified."""
        if not self.log.producers.is_loaded:
            return True  # determined when they read
        stable_offset = self.log.last_stable_offset(CACHED)
        is_more = stable_offset != self._told_stable_offset
        self._told_stable_offset = stable_offset
        return is_more

    @property
    def has_caught_up(self) -> bool:
        """Whether the high watermark has passed the start of this leader's epoch.

        Before that, a new leader does not know which records are committed.
        """
        state = self.leader_state
        return state is not None and self.log.high_watermark >= state.epoch_start_offset

    @property
    def owed_answers(self) -> int:
        """How many wait until what was appended is replicated."""
        return len(self._acks)

    @property
    def owes_answers(self) -> bool:
        """Whether requests wait until their records are replicated."""
        return bool(self._acks)

    def end_leadership(self) -> None:
        """The partition is removed from this broker. `close` follows, and notifies consumers."""
        self.leader_state = None

    def close(self) -> None:
        """The partition was removed from this broker: fail all waiters."""
        self._acks.fail(BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        self.leader_state = None
        self.announce()
        self.notify_followers(None)
        self._listener.low_watermark_changed(self)
