"""Syncing a log to disk.

Owns      what a sync of a log includes, and its order. Very many segments that were closed since
          the last one are synced in several jobs, the oldest first.
Promises  the recovery point moves only over records that a sync begun after their write has
          covered. A sync that fails takes the directory offline and is never repeated; one that
          could not begin, because no file could be opened, changes nothing.
Leaves    what is unsynced to `unsynced.py`, threads to the caller that runs the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ottla.base.files.filesystem import FileSystem, parent_directory
from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.storage.files.file_names import DELETED_SUFFIX, PARTITION_METADATA_NAME
from ottla.storage.log.leader_epochs import LeaderEpochs
from ottla.storage.log.log_files import LogFiles
from ottla.storage.log.log_offsets import LogOffsets
from ottla.storage.log.unsynced import SyncWork
from ottla.storage.segments.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


# Closed segments of one job: the event loop opens the files of each, which takes some hundredths of
# a millisecond.
SEGMENTS_AT_ONCE = 100


class FlushJob:
    """A sync of what a log holds when the job is made, up to `end_offset`. `run` may be called in a
    thread."""

    def __init__(
        self,
        system: FileSystem,
        path: str,
        active: Segment | None,
        snapshots: Sequence[str],
        epochs: LeaderEpochs | None,
        taken: SyncWork,
        offsets: LogOffsets,
        end_offset: int,
    ) -> None:
        """`active` is None if closed segments are left for a later job."""
        self.path = path
        self.taken = taken
        self.end_offset = end_offset
        self.truncations = offsets.truncations
        self.is_refused = False  # a file could not be written: no sync has failed
        self._system = system
        self._active = active
        self._snapshots = snapshots
        self._epochs = epochs

    def run(self) -> None:
        if self.taken.has_directory:  # first: records must not survive without their topic id
            self._sync_if_exists(f"{self.path}/{PARTITION_METADATA_NAME}")
        self._sync_records()
        for path in self._snapshots:
            self._sync_if_exists(path)  # on a full disk it was not written
        if self._epochs is not None:
            self._write_epochs(self._epochs)
        if self.taken.has_names:
            self._system.sync_directory(self.path)
        if self.taken.has_directory:
            self._system.sync_directory(parent_directory(self.path))

    def _write_epochs(self, epochs: LeaderEpochs) -> None:
        """Recovery does not read the segments before the recovery point: it needs the file."""
        try:
            epochs.write()
        except OSError:
            self.is_refused = True
            raise

    def _sync_records(self) -> None:
        # Recovery trusts the indexes of closed segments, so they are synced with them; it rebuilds
        # those of the active one.
        for segment in self.taken.segments:
            self._sync(segment, segment.sync)
        if (active := self._active) is not None:
            self._sync(active, lambda: active.open(BLOCKING).sync())

    @staticmethod
    def _sync(segment: Segment, sync: Callable[[], None]) -> None:
        try:
            sync()
        except FileNotFoundError:
            if segment.state != DELETED_SUFFIX:
                raise

    def _sync_if_exists(self, path: str) -> None:
        try:
            file = self._system.open(path)
        except FileNotFoundError:
            return
        try:
            file.sync()
        finally:
            file.close()


def make_job(
    system: FileSystem, files: LogFiles, offsets: LogOffsets, epochs: LeaderEpochs | None
) -> FlushJob:
    """Take what is unsynced now. OSError, and nothing is taken, if a file cannot be opened."""
    recovery_point = offsets.recovery_point
    closed = [each for each in files.unsynced.segments if not each.state]
    active: Segment | None = files.segments.active
    end_offset = offsets.end
    if len(closed) > SEGMENTS_AT_ONCE:
        active, end_offset = None, closed[SEGMENTS_AT_ONCE].base_offset
        del closed[SEGMENTS_AT_ONCE:]
    for segment in closed if active is None else [*closed, active]:
        segment.open(BLOCKING).size()  # here, before another thread uses it
        segment.indexes.open()
    taken = files.unsynced.take(SEGMENTS_AT_ONCE)
    since = files.segments.base_offsets_between(recovery_point, end_offset)
    snapshots = [*map(files.snapshots.path, [*since, *taken.snapshots])]
    return FlushJob(system, files.path, active, snapshots, epochs, taken, offsets, end_offset)


def flushing(log: Log) -> Steps[None]:
    """Sync what the log holds now. StorageUnavailable if that fails."""
    wanted_offset, is_over = log.offsets.end, False
    while not is_over:
        log.health.check()
        job = log.begin_flush()
        is_over = job.end_offset >= wanted_offset
        try:
            yield job.run
        except OSError as error:
            log.end_flush(job, error)
            return
        log.end_flush(job, None)
        # What was truncated, or deleted with the log, need not be synced.
        is_over |= log.is_discarded or job.truncations != log.offsets.truncations


def flush(log: Log) -> None:
    """Sync, and block until it is done: for shutdown, tools and tests."""
    run_blocking(flushing(log))


def is_flush_due(log: Log, now_ms: int) -> bool:
    """Whether the log must be synced because of `flush.ms`."""
    if log.offsets.recovery_point >= log.offsets.end:
        return False
    return now_ms - log.unsynced.last_sync_ms >= log.config.flush_ms
