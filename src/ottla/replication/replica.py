"""The replica of a partition on this broker: the log, reading it, and its syncs.

Owns      the log, what the metadata says of the partition, the fetches that wait for it, and the
          offset up to which the flush policy requires a sync.
Leaves    what depends on leading or following to `leader_role.py` and `follower_role.py`.
"""

from __future__ import annotations

from ottla.base.files.readers import Reader
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Start
from ottla.replication.fetch_notifications import FetchNotifications
from ottla.replication.leadership import NO_LEADERSHIP, Leadership, divergence
from ottla.replication.offset_waiters import Done
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.leader_epochs import EpochEndOffset
from ottla.storage.log.log import Log
from ottla.storage.log.read_range import ReadRange


class Replica:
    __slots__ = (
        "_commits", "_start", "broker_id", "fetches", "flush_required_to", "leadership", "log",
        "name", "topic_id",
    )  # fmt: skip

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
        self.leadership: Leadership = NO_LEADERSHIP
        self.fetches = FetchNotifications()
        self.flush_required_to = 0  # the flush policy requires syncing up to here first
        self._start = start
        self._commits = GroupCommit(partition_log, start)

    def apply(self, decided: Leadership) -> Leadership:
        """The metadata has a newer state; the result is the one before."""
        before, self.leadership = self.leadership, decided
        return before

    def replace_log(self, other: Log, flushed: Done) -> None:
        """Continue with a copy of the log in another directory. `flushed` is called once it is
        synced as far as the flush policy requires."""
        self.log = other
        self._commits = GroupCommit(other, self._start)
        if other.recovery_point < self.flush_required_to:
            self._commits.wait(self.flush_required_to, flushed)

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
        return divergence(end, last_fetched_epoch, offset, self.name)

    def is_replicated(self, end_offset: int) -> bool:
        return end_offset <= self.log.offsets.high_watermark

    # Syncs

    def needs_sync(self, end_offset: int) -> bool:
        """Whether the flush policy requires a sync before these records are acknowledged."""
        synced = self.log.offsets.recovery_point
        return synced < self.flush_required_to and synced < end_offset

    def note_sync_required(self) -> None:
        """The flush policy requires a sync of everything that was appended. It is begun by
        `require_sync`, or at the latest by `sync_required` in the next role."""
        self.flush_required_to = self.log.log_end_offset

    def require_sync(self, done: Done) -> None:
        """The flush policy requires a sync of everything that was appended: begin it."""
        self.note_sync_required()
        self._commits.wait(self.flush_required_to, done)

    def sync_required(self, done: Done) -> None:
        """Begin the sync that the flush policy has required, as far as it is not truncated or
        done."""
        required = self.flush_required_to = min(self.flush_required_to, self.log.offsets.end)
        if self.log.offsets.recovery_point < required:
            self._commits.wait(required, done)

    def when_synced(self, end_offset: int, done: Done) -> None:
        self._commits.wait(end_offset, done)
