"""Syncing logs to disk: which files, when, and one sync for everybody who waits.

Owns      what a sync of a log must include, and the group commit: while one sync runs, all who
          ask for one meanwhile are served together by the next.
Promises  a log's recovery point moves only over records that a sync begun after their write has
          covered. A sync that fails takes the directory offline and is never tried again; one that
          could not begin, because no file could be opened, changes nothing.
Leaves    threads to whoever runs the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.base.files.filesystem import FileSystem, parent_directory
from ottla.base.files.readers import WAIT
from ottla.base.scheduling.steps import Start, Steps, run_blocking
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import DELETED_SUFFIX, PARTITION_METADATA_NAME
from ottla.storage.segments.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.leader_epochs import LeaderEpochs
    from ottla.storage.log.log import Log

Done = Callable[[Exception | None], None]


class FlushJob:
    """A sync of everything a log holds when the job is made. `run` may be called in a thread."""

    def __init__(self, log: Log) -> None:
        segments = log.segments.reaching(log.recovery_point)
        self._active = segments[-1]
        self.closed = [each for each in log.unsynced_segments if not each.state]
        for segment in [*self.closed, self._active]:  # here, before another thread wants them
            segment.open(WAIT).size()
            segment.indexes.open()
        self.end_offset = log.log_end_offset
        self.cuts = log.cuts
        self.path = log.path
        self.has_home = log.has_unsynced_home
        self.is_refused = False  # a file could not be written, which is no sync that failed
        self._files: FileSystem = log.context.files
        self._epochs = log.unwritten_epochs
        self._snapshots = [
            log.snapshots.path(segment.base_offset)
            for segment in segments
            if segment.base_offset >= log.recovery_point
        ]
        self.late_snapshots, log.late_snapshots = log.late_snapshots, []
        self._snapshots += map(log.snapshots.path, self.late_snapshots)
        # A job that runs at the same time may have taken the names and not synced them yet.
        has_names = log.has_unsynced_names or log.has_unsynced_home or log.names_in_flight > 0
        self._directory = log.path if has_names else None
        log.names_in_flight += has_names
        log.has_unsynced_names = log.has_unsynced_cut = False

    def let_go_of_names(self, log: Log) -> None:
        """The directory was synced, or never will be: other jobs need not do it for this one."""
        if self._directory is not None:
            self._directory = None
            log.names_in_flight -= 1

    def run(self) -> None:
        if self.has_home:  # first: records that survive must not pass for another topic's
            self._sync_if_there(f"{self.path}/{PARTITION_METADATA_NAME}")
        self._sync_records()
        for path in self._snapshots:
            self._sync_if_there(path)  # a full disk may have prevented it
        if self._epochs is not None:
            self._write_epochs(self._epochs)
        if self._directory is not None:
            self._files.sync_directory(self._directory)
        if self.has_home:
            self._files.sync_directory(parent_directory(self.path))

    def _write_epochs(self, epochs: LeaderEpochs) -> None:
        """Segments that are not read again must find theirs there."""
        try:
            epochs.write()
        except OSError:
            self.is_refused = True
            raise

    def _sync_records(self) -> None:
        # The indexes of closed segments count as right after a crash, so they are synced with
        # them; those of the active one are built anew anyway.
        for segment in self.closed:
            self._sync(segment, segment.sync)
        self._sync(self._active, lambda: self._active.open(WAIT).sync())

    @staticmethod
    def _sync(segment: Segment, sync: Callable[[], None]) -> None:
        try:
            sync()
        except FileNotFoundError:
            if segment.state != DELETED_SUFFIX:
                raise

    def _sync_if_there(self, path: str) -> None:
        try:
            file = self._files.open(path)
        except FileNotFoundError:
            return
        try:
            file.sync()
        finally:
            file.close()


def finish_flush(log: Log, job: FlushJob, error: Exception | None) -> None:
    """Take over what a job has done, in the log's thread."""
    job.let_go_of_names(log)
    if error is not None:
        log.has_unsynced_names = log.has_unsynced_cut = True  # perhaps: to be tried again
        log.late_snapshots += job.late_snapshots
    is_elsewhere = log.is_closed or job.path != log.path
    if isinstance(error, FileNotFoundError) and is_elsewhere:
        return  # deleted or renamed meanwhile: that is no failing disk
    if isinstance(error, OSError):
        health = log.health
        note = health.refused if job.is_refused else health.unsynced
        raise note(f"syncing {log.path}", error) from error
    if error is not None:
        raise error
    if job.cuts == log.cuts:  # else what was synced may not be what is there now
        log.recovery_point = max(log.recovery_point, job.end_offset)
        log.unsynced_segments = [each for each in log.unsynced_segments if each not in job.closed]
    if job.has_home:
        log.has_unsynced_home = False
    log.last_flush_ms = log.clock.now_ms()


def flushing(log: Log) -> Steps[None]:
    """Sync what the log holds now. StorageUnavailable where that fails."""
    log.health.check()
    try:
        job = FlushJob(log)
    except OSError as error:
        raise log.health.unsynced(f"syncing {log.path}", error) from error
    try:
        yield job.run
    except OSError as error:
        finish_flush(log, job, error)
    else:
        finish_flush(log, job, None)


def flush(log: Log) -> None:
    """Sync here and now: for shutdown, tools and tests."""
    run_blocking(flushing(log))


def is_flush_due(log: Log, now_ms: int) -> bool:
    """By flush.ms."""
    if log.recovery_point >= log.log_end_offset:
        return False
    return now_ms - log.last_flush_ms >= log.config.flush_ms


class GroupCommit:
    """The syncs of one log, one at a time, each for all who wait when it begins."""

    def __init__(self, log: Log, start: Start) -> None:
        self._log = log
        self._start = start
        self._waiting: list[tuple[int, Done]] = []
        self._is_running = False

    def wait(self, offset: int, done: Done) -> None:
        """Call `done` once everything below `offset` is on disk, or never will be."""
        if offset <= self._log.recovery_point:
            done(None)
            return
        self._waiting.append((offset, done))
        if not self._is_running:
            self._is_running = True
            self._start(self._syncing())

    def _syncing(self) -> Steps[None]:
        try:
            while self._waiting:
                try:
                    self._check_open()
                    yield from flushing(self._log)
                except Exception as error:
                    self._end_all(error)
                else:
                    self._serve()
        finally:
            self._is_running = False

    def _check_open(self) -> None:
        if self._log.is_closed:
            raise StorageUnavailable(f"{self._log.partition}: closed before its sync")

    def _serve(self) -> None:
        point, end_offset = self._log.recovery_point, self._log.log_end_offset
        waiting, self._waiting = self._waiting, []
        for offset, done in waiting:
            if offset <= point:
                done(None)
            elif offset > end_offset:  # cut off by a new leader: acknowledging is up to replication
                done(StorageUnavailable(f"{self._log.partition}: cut before it was synced"))
            else:
                self._waiting.append((offset, done))

    def _end_all(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done(error)
