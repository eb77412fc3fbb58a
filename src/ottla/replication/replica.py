"""What the leader and the followers of a partition share: the log, reading it, and its syncs.

Owns      the log of one partition on this broker, what the metadata says of it, and the offset up
          to which the flush policy requires a sync.
Leaves    the rules of a leader to `leader_replica.py`, those of a follower to
          `follower_replica.py`, and changing from one to the other to `partition.py`.
"""

from __future__ import annotations

from ottla.base.files.readers import Reader
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Start
from ottla.replication.fetch_notifications import FetchNotifications
from ottla.replication.leadership import NOBODY, Leadership, divergence
from ottla.replication.partition_state import LeaderState
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.leader_epochs import EpochEndOffset
from ottla.storage.log.log import Log
from ottla.storage.log.reading import ReadRange


class Replica(FetchNotifications):
    def __init__(
        self,
        name: TopicPartition,
        topic_id: TopicId,
        broker_id: int,
        partition_log: Log,
        start: Start,
    ) -> None:
        super().__init__(partition_log)
        self.name = name
        self.topic_id = topic_id
        self.broker_id = broker_id
        self.leadership: Leadership = NOBODY
        self.leader_state: LeaderState | None = None  # only while this broker is the leader
        self._start = start
        self._commits = GroupCommit(partition_log, start)
        self._flush_owed_to = 0  # the flush policy requires syncing up to here first
        self._untold_bytes = 0  # appended, but above the high watermark

    def __repr__(self) -> str:
        return f"Partition({self.name})"

    @property
    def leader_epoch(self) -> int:
        return self.leadership.leader_epoch

    @property
    def is_leader(self) -> bool:
        return self.leader_state is not None

    def check_epoch(self, current_leader_epoch: int) -> None:
        """BrokerError unless the client knows the same leader, or does not say which."""
        self.leadership.check_epoch(current_leader_epoch)

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

    # Syncs

    @property
    def flush_owed_to(self) -> int:
        """The offset up to which the flush policy requires a sync before acknowledging."""
        return self._flush_owed_to

    def owes_sync(self, end_offset: int) -> bool:
        """Whether the flush policy requires a sync before these records are acknowledged."""
        synced = self.log.offsets.recovery_point
        return synced < self._flush_owed_to and synced < end_offset
