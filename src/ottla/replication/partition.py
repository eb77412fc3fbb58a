"""One partition on this broker: its log, who leads it, and how far it is replicated.

Owns      leadership and epochs as the metadata log told them, and the high watermark's advance.
Promises  the high watermark never goes back, and never passes records that this broker's flush
          policy still owes the disk; who waits for it is woken in order.
Leaves    the arithmetic to `partition_state.py`, files to the storage, answers to the handlers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.base.files.filesystem import Buffer
from ottla.base.files.readers import CACHED, Reader
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Start
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition_state import LeaderState
from ottla.replication.waiting import Done, OffsetWaiters
from ottla.storage.log.append import ANY_CLIENT, Appended, ProducedBy
from ottla.storage.log.flushing import GroupCommit
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
    """What the cluster has decided about a partition."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Sequence[int]
    in_sync_replicas: Sequence[int]


class Partition:
    def __init__(
        self,
        name: TopicPartition,
        topic_id: TopicId,
        broker_id: int,
        partition_log: Log,
        start: Start,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.broker_id = broker_id
        self.log = partition_log
        self.leadership = Leadership(-1, NO_EPOCH, NO_EPOCH, (), ())
        self.leader_state: LeaderState | None = None  # only while this broker leads
        self._leads_since_epoch = NO_EPOCH  # without another leader in between
        self.watchers: set[Watcher] = set()
        self.sessions: dict[FetchSession, FetchKey] = {}  # to notify; `FetchSessions` owns them
        self._acks = OffsetWaiters()
        self._start = start
        self._commits = GroupCommit(partition_log, start)
        self._told_stable_offset = -1
        self._flush_owed_to = 0  # the flush policy wants everything below on disk first
        self._untold_bytes = 0  # appended, but not yet below the high watermark

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
        """Take over what the cluster has decided; an older decision changes nothing."""
        if decided.partition_epoch < self.leadership.partition_epoch:
            return
        is_new_epoch = decided.leader_epoch != self.leadership.leader_epoch
        self.leadership = decided
        if decided.leader != self.broker_id:
            self._stop_leading()
        elif is_new_epoch or self.leader_state is None:
            self._start_leading(now_ms)
        else:
            self.leader_state.in_sync_replicas = frozenset(decided.in_sync_replicas)
        self.advance()
        self.announce()

    def _start_leading(self, now_ms: int) -> None:
        decided = self.leadership
        if self.leader_state is None:
            self._leads_since_epoch = decided.leader_epoch
        self.log.note_leader_epoch(decided.leader_epoch)
        self.leader_state = LeaderState(
            self.broker_id,
            decided.replicas,
            decided.in_sync_replicas,
            self.log.log_end_offset,
            now_ms,
        )

    def _stop_leading(self) -> None:
        self.leader_state = None
        self._acks.fail(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    def check_leader(self, current_leader_epoch: int = NO_EPOCH) -> None:
        """BrokerError unless this broker leads in the epoch that the client believes in."""
        if current_leader_epoch != NO_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                raise BrokerError(ErrorCode.FENCED_LEADER_EPOCH)
            if current_leader_epoch > self.leader_epoch:
                raise BrokerError(ErrorCode.UNKNOWN_LEADER_EPOCH)
        if self.leader_state is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def check_follower(self, broker_id: int, current_leader_epoch: int = NO_EPOCH) -> None:
        """BrokerError unless this other broker has a copy: no stranger reads as followers do."""
        if broker_id == self.broker_id or broker_id not in self.leadership.replicas:
            # With an epoch: our own knowledge of the replicas may be what is old.
            is_known = current_leader_epoch < 0
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_LEADER_EPOCH
            raise BrokerError(code)

    # Appending

    def append(self, data: Buffer | Prepared, acks: int, by: ProducedBy = ANY_CLIENT) -> Appended:
        """Append one batch as leader. It may be acknowledged at once if `is_replicated` says so."""
        state = self.leader_state
        if state is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if acks == ACKS_ALL:
            count, wanted = len(state.in_sync_replicas), self.log.config.min_insync_replicas
            if count < wanted and count < self.min_in_sync_replicas:
                raise BrokerError(ErrorCode.NOT_ENOUGH_REPLICAS)
        appended = self.log.append_as_leader(data, self.leadership.leader_epoch, by)
        if not appended.is_duplicate:
            if appended.must_flush:
                self._flush_owed_to = self.log.log_end_offset
                self._commits.wait(self._flush_owed_to, self._flushed)
            self.advance(len(data))
        return appended

    @property
    def min_in_sync_replicas(self) -> int:
        return min(self.log.config.min_insync_replicas, max(1, len(self.leadership.replicas)))

    def is_replicated(self, end_offset: int) -> bool:
        return end_offset <= self.log.high_watermark

    async def wait_replicated(self, end_offset: int, leader_epoch: int = NO_EPOCH) -> None:
        """Until everything below `end_offset` is replicated; BrokerError if it never will be.

        `leader_epoch` is that of the append. If another broker has led since, it may have replaced
        the records: that as many are replicated says nothing about these.
        """
        if self._may_be_replaced(leader_epoch):
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if not self.is_replicated(end_offset):
            self.check_leader()  # those who waited when it resigned were told; nobody else will be
            await self._acks.wait_for(end_offset)

    def when_replicated(self, end_offset: int, done: Done, leader_epoch: int = NO_EPOCH) -> None:
        """As `wait_replicated`, for a request that waits for many partitions."""
        if self._may_be_replaced(leader_epoch):
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif self.is_replicated(end_offset):
            done(None)
        elif self.leader_state is None:
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            self._acks.add(end_offset, done)

    def _may_be_replaced(self, leader_epoch: int) -> bool:
        """Whether another broker leads, or has led, since an append in this epoch."""
        if leader_epoch == NO_EPOCH:
            return False
        return self.leader_state is None or leader_epoch < self._leads_since_epoch

    @property
    def flush_owed_to(self) -> int:
        """Up to here the flush policy wants records on disk before they are acknowledged."""
        return self._flush_owed_to

    def replace_log(self, other: Log) -> None:
        """Go on with a copy of the log, in another directory."""
        self.log = other
        self._commits = GroupCommit(other, self._start)
        if other.recovery_point < self._flush_owed_to:
            self._commits.wait(self._flush_owed_to, self._flushed)
        self.advance()
        self.announce()

    def owes_sync(self, end_offset: int) -> bool:
        """Whether the flush policy wants these records on disk before anybody is told."""
        synced = self.log.recovery_point
        return synced < self._flush_owed_to and synced < end_offset

    def when_synced(self, end_offset: int, done: Done, leader_epoch: int = NO_EPOCH) -> None:
        """Call `done` once everything below `end_offset` is on this broker's disk, or never will
        be. `leader_epoch` is that of the append, as in `wait_replicated`."""
        if self._may_be_replaced(leader_epoch):
            done(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            self._commits.wait(end_offset, done)

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
    ) -> ReadRange:
        """Records for a consumer: below the high watermark, or below the last stable offset."""
        log = self.log
        end_offset = log.last_stable_offset(reader) if is_committed else log.high_watermark
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
        """Where a reader's copy parts from this log; None while they agree (KIP-320)."""
        epochs = self.log.load_epochs(reader)
        end = epochs.end_offset_for(last_fetched_epoch, self.log.log_end_offset)
        if end.end_offset == UNDEFINED_OFFSET or end.epoch == UNDEFINED_EPOCH:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{self.name}: nothing is known of leader epoch {last_fetched_epoch}",
            )
        return end if end.epoch < last_fetched_epoch or end.end_offset < offset else None

    # The high watermark

    def advance(self, size: int = 0) -> None:
        """Move the high watermark to where it belongs now, and wake who waited for it.

        `size` is of what was just appended. Readers hear of it once they may see it.
        """
        state = self.leader_state
        if state is None:
            return
        size += self._untold_bytes
        log = self.log
        own_end = log.log_end_offset
        if log.recovery_point < self._flush_owed_to:
            own_end = min(own_end, log.recovery_point)
        before, wanted = log.high_watermark, own_end
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

    def notify_session(self, session: FetchSession, key: FetchKey) -> bool:
        """From now on; False if the session is closed or has removed the partition meanwhile."""
        if session.is_closed or key not in session.partitions:
            return False
        self.sessions[session] = key
        return True

    def forget_session(self, session: FetchSession) -> None:
        self.sessions.pop(session, None)

    def announce(self, size: int | None = None) -> None:
        """Tell readers that there is something new; without a size, that they must look now."""
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
        """Whether readers of committed data may read more than when they were last told."""
        if not self.log.knows_producers:
            return True  # they will find out when they read
        stable_offset = self.log.last_stable_offset(CACHED)
        is_more = stable_offset != self._told_stable_offset
        self._told_stable_offset = stable_offset
        return is_more

    @property
    def has_caught_up(self) -> bool:
        """Whether the high watermark has passed the start of this leader's epoch.

        Before that a new leader cannot say which records are committed.
        """
        state = self.leader_state
        return state is not None and self.log.high_watermark >= state.epoch_start_offset

    @property
    def owes_answers(self) -> bool:
        """Somebody waits until what was appended is replicated."""
        return bool(self._acks)

    def close(self) -> None:
        """The partition leaves this broker: nobody can wait for it any more."""
        self._acks.fail(BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        self.leader_state = None
        self.announce()
