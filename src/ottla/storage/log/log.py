"""The log of one partition: records appended at its end, read by offset, kept in segments.

Owns      the offsets of the log (start, end, high watermark, recovery point), its segments, its
          producer state and leader epochs.
Promises  log start <= high watermark <= log end, and recovery point <= log end. Producer state and
          epochs are read when first needed, and then are those of the records.
Leaves    opening to `recovery.py`; appending, reading, cutting, deleting, syncing and swapping to
          the modules that the methods name.
Threads   one, the event loop's. What takes long is handed out as jobs for other threads.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ottla.base.files.filesystem import Buffer
from ottla.base.files.readers import WAIT, Reader
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Steps, looking_up
from ottla.config.topic_options import TopicConfig
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import LEADER_EPOCHS_NAME, PARTITION_METADATA_NAME
from ottla.storage.files.partition_metadata import (
    read_topic_id,
    write_topic_id,
    write_unsynced_topic_id,
)
from ottla.storage.log import (
    append,
    flushing,
    reading,
    replacement,
    retention,
    time_search,
    truncation,
)
from ottla.storage.log.admission import append_rules
from ottla.storage.log.epoch_replay import open_epochs
from ottla.storage.log.leader_epochs import EpochEndOffset, LeaderEpochs
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.log_health import LogHealth
from ottla.storage.log.preparation import Prepared
from ottla.storage.log.rolling import roll, take_snapshot
from ottla.storage.producers.producer_replay import SnapshotFiles, load_states
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments

logger = logging.getLogger(__name__)


class Log:
    def __init__(
        self,
        context: LogContext,
        partition: TopicPartition,
        path: str,
        config: TopicConfig,
        segments: Segments,
        *,
        log_start_offset: int,
        log_end_offset: int,
        recovery_point: int,
        snapshots: SnapshotFiles | None = None,
        states: ProducerStates | None = None,
        leader_epochs: LeaderEpochs | None = None,
        damage: Sequence[CorruptLogError] = (),
    ) -> None:
        self.context = context
        self.clock = context.clock
        self.health = LogHealth(context.health)
        self.partition = partition
        self.path = path
        self.config = config
        self.rules = append_rules(config)
        self.segments = segments
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.high_watermark = log_start_offset
        self.recovery_point = recovery_point  # records below are on disk for good
        self.checkpointed_point = recovery_point  # what the checkpoint says at most
        self.unsynced_segments: list[Segment] = []  # closed ones with an index that is not
        self.has_unsynced_names = False
        self.has_unsynced_home = False  # its directory and topic id may be gone after a power cut
        self.names_in_flight = 0  # flush jobs that are to sync the directory
        self.has_unsynced_cut = False
        self.swap: replacement.Swap | None = None  # of compacted segments, while it is under way
        self.last_flush_ms = self.clock.now_ms()
        self.cuts = 0  # how often records were taken away, so that a sync meanwhile counts nothing
        self.snapshots = snapshots or SnapshotFiles(context.files, path)
        self.damage = tuple(damage)  # what recovery found in records that were once synced
        self.last_noted_epoch = -1
        self.snapshots_under_way = 0  # of producers, which threads encode
        self.late_snapshots: list[int] = []  # those that were written since, and not synced
        self._states = states
        if states is not None:
            states.bound = context.producers
        self._leader_epochs = leader_epochs
        self._topic_id: TopicId | None = None

    def __repr__(self) -> str:
        return f"Log({self.path!r}, {self.log_start_offset} to {self.log_end_offset})"

    # Appending: `append.py`

    def append_as_leader(
        self, data: Buffer | Prepared, leader_epoch: int, by: append.ProducedBy = append.ANY_CLIENT
    ) -> append.Appended:
        try:
            return append.append_as_leader(self, data, leader_epoch, by)
        except OSError as error:
            raise self.health.refused(f"appending to {self.path}", error) from error

    def append_as_follower(self, data: Buffer) -> append.Appended:
        try:
            return append.append_as_follower(self, data)
        except OSError as error:
            raise self.health.refused(f"appending to {self.path}", error) from error

    def note_leader_epoch(self, epoch: int) -> None:
        """A leader begins its epoch at the end of the log, before it appends anything."""
        self.load_epochs(WAIT).announce(epoch, self.log_end_offset)

    # Reading: `reading.py`, `time_search.py`

    def read(
        self,
        reader: Reader,
        offset: int,
        bytes_max: int,
        end_offset: int,
        *,
        at_least_one: bool = True,
        with_aborted: bool = False,
    ) -> reading.ReadRange:
        try:
            return reading.read(
                reader, self, offset, bytes_max, end_offset,
                at_least_one=at_least_one, with_aborted=with_aborted,
            )  # fmt: skip
        except OSError as error:
            raise self.health.refused(f"reading {self.path}", error) from error

    def finding_by_timestamp(self, timestamp: int) -> Steps[time_search.FoundTime | None]:
        try:
            return (yield from time_search.finding_by_timestamp(self, timestamp))
        except OSError as error:
            raise self.health.refused(f"reading {self.path}", error) from error

    def finding_max_timestamp(self) -> Steps[time_search.FoundTime | None]:
        try:
            return (yield from time_search.finding_max_timestamp(self))
        except OSError as error:
            raise self.health.refused(f"reading {self.path}", error) from error

    # Cutting, deleting, swapping: `truncation.py`, `retention.py`, `replacement.py`

    def truncate_to(self, offset: int) -> bool:
        return truncation.truncate_to(self, offset)

    def truncate_to_epoch(self, leader_end: EpochEndOffset) -> int:
        return truncation.truncate_to_epoch(self, leader_end)

    def truncate_fully_and_start_at(self, offset: int, log_start_offset: int | None = None) -> None:
        truncation.truncate_fully(self, offset, log_start_offset)

    def advance_log_start(self, offset: int) -> bool:
        return retention.advance_log_start(self, offset)

    def enforce_retention(self) -> int:
        return retention.enforce_retention(self)

    def roll(self) -> Segment:
        return roll(self)

    def open_cleaned(self, base_offset: int) -> Segment:
        return replacement.open_cleaned(self, base_offset)

    def replacing_segments(
        self, cleaned: Sequence[Segment], replaced: Sequence[Segment]
    ) -> Steps[bool]:
        return replacement.replacing(self, cleaned, replaced)

    def finish_swap(self) -> None:
        replacement.finish_swap(self)

    # Offsets and state

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def recovery_checkpoint(self) -> int:
        """The recovery point to be written down: segments before it are not read again, so also
        their indexes must be on disk. Those of the active segment never are before it is closed;
        and the next one may begin at once."""
        waiting = [each.base_offset for each in self.unsynced_segments if not each.state]
        if self.segments.active.size and not self.is_closed:
            waiting.append(self.log_end_offset - 1)
        return min([self.recovery_point, *waiting])

    def last_stable_offset(self, reader: Reader) -> int:
        """Never before the log: what was deleted of an open transaction keeps nobody waiting."""
        offset = self.load_producers(reader).last_stable_offset(self.high_watermark)
        return max(offset, self.log_start_offset)

    def update_high_watermark(self, offset: int) -> int:
        """Replication says how far records are safe; kept within the log."""
        if offset < self.log_start_offset:
            offset = self.log_start_offset
        if offset > self.log_end_offset:
            offset = self.log_end_offset
        self.high_watermark = offset
        if self._states is not None:
            self._states.high_watermark_advanced(offset)
        return offset

    def load_producers(self, reader: Reader) -> ProducerStates:
        """The producers up to the end of the log, from the files unless they are in memory."""
        if self._states is None:
            end_offset = self.log_end_offset
            try:
                self._states = load_states(reader, self.snapshots, self.segments, end_offset)
            except OSError as error:
                raise self.health.refused(f"reading {self.path}", error) from error
            self._states.high_watermark_advanced(self.high_watermark)
            self._states.bound = self.context.producers
        return self._states

    def loading_producers(self) -> Steps[None]:
        """Before anything depends on them. A log that is closed meanwhile is left alone."""
        yield from looking_up(
            lambda reader: None if self.is_closed else self.load_producers(reader)
        )

    @property
    def knows_producers(self) -> bool:
        """Whether the producers are in memory."""
        return self._states is not None

    @property
    def must_read_producers(self) -> bool:
        """Whether the producers have to be read from files, which may take a while."""
        return self._states is None and (
            self.snapshots.newest is not None or self.log_end_offset > self.segments[0].base_offset
        )

    def expiring_producers(self, now_ms: int, expiration_ms: int) -> Steps[int]:
        """Forget idle producers; how many were. A log that nobody writes to is not read for it."""
        if self._states is None:
            return 0
        return (yield from self._states.expiring(now_ms, expiration_ms))

    def take_over_producers(self, other: Log) -> None:
        """Of a log with the same records, which is not used any more."""
        self._states = other.load_producers(WAIT)

    def forget_producer_states(self) -> None:
        """They are read again from the files when next needed."""
        self._states = None

    @property
    def knows_epochs(self) -> bool:
        """Whether the leader epochs are in memory."""
        return self._leader_epochs is not None

    def load_epochs(self, reader: Reader) -> LeaderEpochs:
        """The leader epochs, from the files unless they are in memory."""
        if self._leader_epochs is None:
            path = f"{self.path}/{LEADER_EPOCHS_NAME}"
            start, end = self.log_start_offset, self.log_end_offset
            try:
                files, segments = self.context.files, self.segments
                epochs = open_epochs(reader, files, path, segments, start, end)
            except OSError as error:
                raise self.health.refused(f"reading {self.path}", error) from error
            epochs.truncate_from_start(self.log_start_offset)
            self._leader_epochs = epochs
        return self._leader_epochs

    @property
    def unwritten_epochs(self) -> LeaderEpochs | None:
        """The epochs, if their file does not say the same."""
        epochs = self._leader_epochs
        return None if epochs is None or epochs.is_written else epochs

    def forget_epochs_from(self, offset: int) -> None:
        self.load_epochs(WAIT).truncate_from_end(offset)
        self.last_noted_epoch = -1

    def load_topic_id(self, reader: Reader) -> TopicId | None:
        """From the file unless it is in memory; None where there is none yet.

        The first sync of a log includes its id: where that is damaged and nothing was synced, a
        power cut was quicker.
        """
        if self._topic_id is None:
            path = f"{self.path}/{PARTITION_METADATA_NAME}"
            try:
                self._topic_id = read_topic_id(reader, self.context.files, path)
            except CorruptLogError as error:
                if self.checkpointed_point:
                    raise
                logger.warning("a log that was never synced has no topic id: %s", error)
        return self._topic_id

    def remember_topic_id(self, topic_id: TopicId | None) -> None:
        """Somebody has read it already."""
        self._topic_id = topic_id

    def begin_topic(self, topic_id: TopicId) -> None:
        """As `assign_topic_id`, for a log that was made just now and is synced later."""
        path = f"{self.path}/{PARTITION_METADATA_NAME}"
        write_unsynced_topic_id(self.context.files, path, topic_id)
        self._topic_id = topic_id

    def assign_topic_id(self, topic_id: TopicId) -> None:
        """Write it down, before the first record: it says whose records these are."""
        write_topic_id(self.context.files, f"{self.path}/{PARTITION_METADATA_NAME}", topic_id)
        self._topic_id = topic_id

    def update_config(self, config: TopicConfig) -> None:
        self.config = config
        rules = append_rules(config)
        if rules != self.rules:  # else a batch that was prepared by the old ones stays so
            self.rules = rules

    # Life

    @property
    def is_closed(self) -> bool:
        return self.health.is_closed

    @property
    def is_gone(self) -> bool:
        """Deleted or closed: its files may be gone at any moment."""
        return self.health.is_gone

    def close(self) -> None:
        """Leave everything so that it can be opened again without reading the records."""
        try:
            self.finish_swap()
            self.segments.active.seal()
            if self.snapshots.newest != self.log_end_offset:
                take_snapshot(self, self.log_end_offset, sync=True)
                self.snapshots.remove_strays(self.segments.base_offsets)
                self.has_unsynced_names = True
            if self.unwritten_epochs is not None:
                self.unwritten_epochs.write()
            self._sync_for_close()
        except OSError as error:
            raise self.health.failed(f"closing {self.path}", error) from error
        finally:
            self.let_go()

    def _sync_for_close(self) -> None:
        has_unsynced = self.recovery_point < self.log_end_offset or self.unsynced_segments
        has_names = self.has_unsynced_names or self.has_unsynced_home
        if has_unsynced or has_names or self.has_unsynced_cut:
            flushing.flush(self)
            self.segments.active.indexes.sync()

    def let_go(self) -> None:
        """Close the files as they are: the directory failed, or the partition is deleted."""
        self.health.is_closed = True
        for segment in self.segments:
            segment.close()

    def moved(self, path: str) -> None:
        """The directory has another name now."""
        self.path = path
        self.snapshots.directory = path
        for segment in self.segments:
            segment.moved(path)
        if self.swap is not None:
            self.swap.moved(path)
        if self._leader_epochs is not None:
            self._leader_epochs.renamed(f"{path}/{LEADER_EPOCHS_NAME}")
