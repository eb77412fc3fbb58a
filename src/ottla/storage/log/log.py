"""The log of one partition: records appended at its end, read by offset, stored in segments.

Owns      the parts of a log (offsets, files, producers, leader epochs), and every change of its
          state: operations in other modules decide and touch files, and this class applies what
          they return.
Promises  the producers and leader epochs are those of the records, also after a truncation.
Leaves    opening to `recovery.py`; appending, reading, truncating, deleting, syncing and swapping
          to the modules that the methods name.
Threads   one, that of the event loop. What takes long is a job for another thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from sys import maxsize

from ottla.base.files.filesystem import Buffer
from ottla.base.files.readers import BLOCKING, Reader
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Steps, looking_up, run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.log import (
    append,
    flushing,
    read_range,
    replacement,
    retention,
    rolling,
    time_search,
    truncation,
)
from ottla.storage.log.admission import append_rules
from ottla.storage.log.leader_epochs import EpochEndOffset, LeaderEpochs
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.log_epochs import LogEpochs
from ottla.storage.log.log_files import LogFiles
from ottla.storage.log.log_health import LogHealth
from ottla.storage.log.log_offsets import LogOffsets
from ottla.storage.log.log_producers import LogProducers
from ottla.storage.log.log_topic_id import LogTopicId
from ottla.storage.log.preparation import Prepared
from ottla.storage.log.snapshotting import take_snapshot
from ottla.storage.log.unsynced import Unsynced
from ottla.storage.producers.producer_replay import SnapshotFiles
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments


class Log:
    def __init__(
        self,
        context: LogContext,
        partition: TopicPartition,
        path: str,
        config: TopicConfig,
        segments: Segments,
        offsets: LogOffsets,
        snapshots: SnapshotFiles,
        unsynced: Unsynced,
        *,
        states: ProducerStates | None = None,
        leader_epochs: LeaderEpochs | None = None,
        damage: Sequence[CorruptLogError] = (),
    ) -> None:
        system = context.files
        self.context = context
        self.health = LogHealth(context.health)
        self.partition = partition
        self.config = config
        self.rules = append_rules(config)
        self.offsets = offsets
        self.segments = segments
        self.snapshots = snapshots
        self.unsynced = unsynced
        self.files = LogFiles(context, path, segments, snapshots, unsynced)
        self.producers = LogProducers(
            segments, offsets, snapshots, self.health, context.producers, states
        )
        self.epochs = LogEpochs(system, path, segments, offsets, self.health, leader_epochs)
        self.topic_id = LogTopicId(system, path, offsets)
        self.swaps = replacement.Swaps(system, self.files, self.health)
        self.damage = tuple(damage)  # what recovery found in records below the recovery point

    def __repr__(self) -> str:
        return f"Log({self.path!r}, {self.log_start_offset} to {self.log_end_offset})"

    # What others read

    @property
    def path(self) -> str:
        return self.files.path

    @property
    def log_start_offset(self) -> int:
        return self.offsets.start

    @property
    def log_end_offset(self) -> int:
        return self.offsets.end

    @property
    def high_watermark(self) -> int:
        return self.offsets.high_watermark

    @property
    def recovery_point(self) -> int:
        return self.offsets.recovery_point

    @property
    def recovery_checkpoint(self) -> int:
        """The recovery point for the checkpoint file. Recovery does not read the segments before
        it, so their indexes must be synced too. Those of the active segment are not before it is
        closed; and the next one may be created at any time."""
        waiting = [each.base_offset for each in self.unsynced.segments if not each.state]
        if self.segments.active.size and not self.is_closed:
            waiting.append(self.offsets.end - 1)
        return min([self.offsets.recovery_point, *waiting])

    def last_stable_offset(self, reader: Reader) -> int:
        """At least the log start: an open transaction whose records were deleted does not count."""
        states = self.producers.in_memory or self.producers.load(reader)
        offset = states.last_stable_offset(self.offsets.high_watermark)
        return max(offset, self.offsets.start)

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def is_closed(self) -> bool:
        return self.health.is_closed

    @property
    def is_discarded(self) -> bool:
        """Deleted or closed: its files may be removed at any moment."""
        return self.health.is_discarded

    # Appending: `append.py`, `rolling.py`

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

    def roll(self, header: BatchHeader | None = None) -> Segment:
        """Close the active segment, unless it is empty; the new active one, in which the batch of
        `header` has room."""
        try:
            segment = rolling.roll(
                self.files, self.offsets, self.config, header, self._write_checkpoints
            )
        except OSError as error:
            raise self.health.refused(f"creating a segment in {self.path}", error) from error
        if segment is None:
            return self.segments.active
        take_snapshot(self, segment.base_offset)
        self.context.listener.log_needs_sync(self)
        return segment

    def update_high_watermark(self, offset: int) -> int:
        """Replication reports how far records are committed; limited to the log."""
        offset = self.offsets.set_high_watermark(offset)
        states = self.producers.in_memory
        if states is not None:
            states.high_watermark_advanced(offset)
        return offset

    # Reading: `read_range.py`, `time_search.py`

    def read(
        self,
        reader: Reader,
        offset: int,
        bytes_max: int,
        end_offset: int,
        *,
        at_least_one: bool = True,
        with_aborted: bool = False,
    ) -> read_range.ReadRange:
        try:
            return read_range.read(
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

    # Truncating: `truncation.py`

    def truncate_to(self, offset: int) -> bool:
        """Remove every record at or after `offset`; False if there are none."""
        return run_blocking(self.truncating_to(offset))

    def truncating_to(self, offset: int) -> Steps[bool]:
        """The same in steps. Meanwhile nothing else may append or truncate; what was removed is
        not read any more from the first change on."""
        if offset < 0:
            raise ValueError(f"{self.partition}: cannot be truncated to offset {offset}")
        self.health.check()
        if offset >= self.offsets.end:
            # A leader that appended nothing may have noted its epoch here, as the next one does.
            self.epochs.truncate_from_end(self.offsets.end)
            return False
        try:
            self.finish_swap()
            if offset < self.segments[0].base_offset:
                self.truncate_fully_and_start_at(offset)
            else:
                yield from self._cutting(offset)
        except OSError as error:
            raise self.health.failed(f"truncating {self.path} to {offset}", error) from error
        return True

    def _cutting(self, offset: int) -> Steps[None]:
        cut = yield from looking_up(
            lambda reader: truncation.decide_cut(reader, self.segments, offset)
        )
        if self.offsets.lower(cut.recovery_point, cut.end_offset):
            # Before any record is removed: recovery must not trust what follows.
            yield from self.context.checkpoints.writing_with(self)
        if self.is_discarded:
            return
        truncation.remove_later(cut, self.files, self.config)
        self.offsets.truncate(cut.end_offset)
        self._apply_truncation()
        if cut.later:
            yield partial(self.context.files.sync_directory, self.path)
        if cut.position is not None and not self.is_discarded:
            truncation.cut_last(cut)
            yield cut.segment.sync_cut

    def truncate_to_epoch(self, leader_end: EpochEndOffset) -> int:
        """As `truncating_to_epoch`, at once."""
        return run_blocking(self.truncating_to_epoch(leader_end))

    def truncating_to_epoch(self, leader_end: EpochEndOffset) -> Steps[int]:
        """Truncate to where this log and the leader's agree, as far as one answer of the leader
        shows; the new end. Replication asks again, for the epoch that is then the last, until
        nothing more is truncated (KIP-101, KIP-279)."""
        epochs = yield from looking_up(self.epochs.load)
        end_offset = truncation.agreed_end(epochs, leader_end, self.offsets.end)
        yield from self.truncating_to(end_offset)
        return self.offsets.end

    def truncate_fully_and_start_at(self, offset: int, log_start_offset: int | None = None) -> None:
        """Remove all records, and continue at `offset`, which may be any."""
        self.health.check()
        start = offset if log_start_offset is None else log_start_offset
        try:
            self.finish_swap()
            self._lower_offsets(offset, start)
            truncation.remove_all(self.files, self.config, offset)
            self.epochs.load(BLOCKING).clear()
        except OSError as error:
            raise self.health.failed(f"emptying {self.path}", error) from error
        self.offsets.restart(start, offset, high_watermark=offset)
        self._apply_truncation()

    def _lower_offsets(self, recovery_point: int, start: int) -> None:
        """On disk too, before any record is removed: recovery must not trust what follows."""
        if self.offsets.lower(recovery_point, start):
            self._write_checkpoints()

    def _apply_truncation(self) -> None:
        self.unsynced.records_removed()
        self.producers.unload()
        self.epochs.truncate_from_end(self.offsets.end)
        self.context.listener.log_truncated(self)

    # Deleting from the start: `retention.py`

    def enforce_retention(self, count_max: int = maxsize) -> int:
        """Delete at most `count_max` segments; returns how many were deleted."""
        return retention.enforce_retention(self, count_max)

    def advance_log_start(self, offset: int) -> bool:
        """Delete the records before `offset`; OFFSET_OUT_OF_RANGE above the high watermark."""
        self.health.check()
        high_watermark = self.offsets.high_watermark
        if offset > high_watermark:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{self.partition}: offset {offset} is above the high watermark {high_watermark}",
            )
        if offset <= self.offsets.start:
            return False
        self.offsets.advance_start(offset)
        self.epochs.truncate_from_start(offset)
        self.producers.load(BLOCKING).log_start_advanced(offset)
        return True

    def delete_oldest(self, count: int) -> int:
        """Delete the `count` oldest segments; returns how many. An empty one replaces all."""
        if not count:
            return 0
        try:
            self.finish_swap()
        except OSError as error:
            raise self.health.failed(f"swapping segments of {self.path}", error) from error
        if count == len(self.segments):
            self.roll()
        if self.producers.encodings:
            count = retention.count_with_snapshot(self.files, count)
            if not count:
                return 0
        self.advance_log_start(self.segments[count].base_offset)
        try:
            retention.remove_oldest(self.files, count, self.config.file_delete_delay_ms)
        except OSError as error:
            raise self.health.failed(f"deleting segments of {self.path}", error) from error
        return count

    # Swapping in compacted segments: `replacement.py`

    def open_cleaned(self, base_offset: int) -> Segment:
        return self.files.open_cleaned(base_offset, self.config)

    def replacing_segments(
        self, cleaned: Sequence[Segment], replaced: Sequence[Segment]
    ) -> Steps[bool]:
        return replacement.replacing(self, cleaned, replaced)

    def finish_swap(self) -> None:
        self.swaps.finish_now(self.config.file_delete_delay_ms)

    # Syncing: `flushing.py`

    def begin_flush(self) -> flushing.FlushJob:
        """A sync of what the log holds now. `end_flush` must follow."""
        try:
            system, epochs = self.context.files, self.epochs.unwritten
            return flushing.make_job(system, self.files, self.offsets, epochs)
        except OSError as error:
            raise self.health.unsynced(f"syncing {self.path}", error) from error

    def end_flush(self, job: flushing.FlushJob, error: Exception | None) -> None:
        """Apply what a job has done. StorageUnavailable if it has failed."""
        if error is not None:
            self.unsynced.failed(job.taken)
            self._raise_unsynced(job, error)
            return
        is_current = job.truncations == self.offsets.truncations
        if is_current:  # else the records that were synced may not be those of the log
            self.offsets.advance_recovery_point(job.end_offset)
        self.unsynced.synced(job.taken, self.context.clock.now_ms(), is_current=is_current)

    def _raise_unsynced(self, job: flushing.FlushJob, error: Exception) -> None:
        is_elsewhere = self.is_closed or job.path != self.path
        if isinstance(error, FileNotFoundError) and is_elsewhere:
            return  # deleted or renamed meanwhile: the disk has not failed
        if not isinstance(error, OSError):
            raise error
        report = self.health.refused if job.is_refused else self.health.unsynced
        raise report(f"syncing {self.path}", error) from error

    def _write_checkpoints(self) -> None:
        self.context.checkpoints.write_with(self)

    # Settings and life cycle

    def update_config(self, config: TopicConfig) -> None:
        self.config = config
        rules = append_rules(config)
        if rules != self.rules:  # else batches that were prepared by the old rules stay valid
            self.rules = rules

    def close(self) -> None:
        """Write and sync everything, so that the next start reads no records."""
        try:
            self.finish_swap()
            self.segments.active.seal()
            end_offset = self.offsets.end
            if self.snapshots.newest != end_offset:
                take_snapshot(self, end_offset, sync=True)
                self.snapshots.remove_strays(self.segments.base_offsets)
                self.unsynced.names_changed()
            if self.epochs.unwritten is not None:
                self.epochs.unwritten.write()
            if self.offsets.recovery_point < end_offset or not self.unsynced.is_empty:
                flushing.flush(self)
                self.segments.active.indexes.sync()
        except OSError as error:
            raise self.health.failed(f"closing {self.path}", error) from error
        finally:
            self.release()

    def release(self) -> None:
        """Close the files as they are: the directory failed, or the partition is deleted."""
        self.health.close()
        self.files.close()

    def moved(self, path: str) -> None:
        """The directory was renamed."""
        self.files.moved(path)
        self.swaps.moved(path)
        self.epochs.moved(path)
        self.topic_id.moved(path)
