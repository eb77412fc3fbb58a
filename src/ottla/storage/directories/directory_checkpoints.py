"""The checkpoints of a log directory: how far each log is synced, where it starts, what is safe.

Owns      `recovery-point-offset-checkpoint`, `log-start-offset-checkpoint` and
          `replication-offset-checkpoint` of one directory.
Promises  a recovery point or log start on disk is never above the one in memory: when one goes
          down, it is written before records are touched, and no write that began earlier can undo
          that. What a job has written, no job that was begun earlier undoes.
          A damaged checkpoint counts as empty: logs are then read from their beginning.
Threads   `CheckpointJob.run` may run in any; everything else in the log's.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import PAUSE, Steps, run_blocking
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import (
    HIGH_WATERMARKS_NAME,
    LOG_START_OFFSETS_NAME,
    RECOVERY_POINTS_NAME,
)
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint

logger = logging.getLogger(__name__)

Offsets = dict[TopicPartition, int]
LOGS_AT_ONCE = 500  # one or two milliseconds


class SavedOffsets(NamedTuple):
    """The three checkpoints, for all partitions of a directory."""

    recovery_points: Offsets
    log_starts: Offsets
    high_watermarks: Offsets


class DirectoryCheckpoints:
    def __init__(self, files: FileSystem, path: str) -> None:
        self._recovery_points = OffsetCheckpoint(files, f"{path}/{RECOVERY_POINTS_NAME}")
        self._log_starts = OffsetCheckpoint(files, f"{path}/{LOG_START_OFFSETS_NAME}")
        self._high_watermarks = OffsetCheckpoint(files, f"{path}/{HIGH_WATERMARKS_NAME}")
        self._carried = SavedOffsets({}, {}, {})
        self._lock = threading.Lock()
        self._version = 0
        self._jobs_made = 0
        self._last_begun = 0
        self._last_written = 0  # to its end: a full disk may refuse one

    def read(self) -> SavedOffsets:
        """What the files say. It is written again as it is for logs that are not open (yet)."""
        found = SavedOffsets(
            _read(self._recovery_points), _read(self._log_starts), _read(self._high_watermarks)
        )
        self._carried = SavedOffsets(*map(dict, found))
        return found

    def forget(self, partition: TopicPartition) -> None:
        """The log is open now and speaks for itself, or is gone."""
        for offsets in self._carried:
            offsets.pop(partition, None)

    def carry(self, log: Log) -> None:
        """The files of a log are gone. Whoever restores them finds what the checkpoints said."""
        self._carried.recovery_points[log.partition] = log.recovery_checkpoint
        self._carried.high_watermarks[log.partition] = log.high_watermark
        if log.log_start_offset > log.segments[0].base_offset:
            self._carried.log_starts[log.partition] = log.log_start_offset

    def carried_of(self, partition: TopicPartition) -> tuple[Checkpoint, int]:
        """What the files said of a log that is not open, with its high watermark."""
        points, starts, marks = self._carried
        checkpoint = Checkpoint(points.get(partition), max(0, starts.get(partition, 0)))
        return checkpoint, marks.get(partition, 0)

    def carries(self, partition: TopicPartition) -> bool:
        """Whether the files have anything of a log that is not open."""
        return any(partition in offsets for offsets in self._carried)

    def has_records_of(self, partition: TopicPartition) -> bool:
        """By the files there was a log with records, which is not open."""
        return any(offsets.get(partition, 0) > 0 for offsets in self._carried)

    @property
    def not_open(self) -> set[TopicPartition]:
        """What the files had of logs that are not open, or not any more."""
        return {partition for offsets in self._carried for partition in offsets}

    def write_now(self, logs: Iterable[Log]) -> None:
        """Write all three here and now. Jobs that were made before write nothing any more."""
        logs = list(logs)
        job = run_blocking(self.making_urgent_job(logs))
        job.run()
        for log in logs:
            log.offsets.checkpoint_written(job.offsets.recovery_points[log.partition])

    def making_urgent_job(self, logs: Sequence[Log]) -> Steps[CheckpointJob]:
        """As `making_job`; jobs that were begun before write nothing any more."""
        # Without the lock: a write under way, for whose syncs nobody here may wait, is followed by
        # that of the job.
        self._version += 1
        return self.making_job(logs)

    def making_job(self, logs: Sequence[Log]) -> Steps[CheckpointJob]:
        """What to write, to be written in a thread; with pauses, because logs may be many.

        Its version is that of the beginning: where an offset goes down during a pause, or a log is
        deleted and its name used again, all was written meanwhile and the job writes nothing.
        """
        saved = SavedOffsets(*map(dict, self._carried))
        self._jobs_made += 1
        job = CheckpointJob(self, self._version, saved, self._jobs_made)
        for count, log in enumerate(logs, 1):
            _note(log, saved)
            if count % LOGS_AT_ONCE == 0:
                yield PAUSE
        return job

    def writing(self, every_log: Callable[[], Sequence[Log]]) -> Steps[None]:
        """How far the logs are synced when this begins, and perhaps later, is written. OSError if
        it is not: what a job leaves to a later one, a full disk may refuse."""
        is_written = False
        while not is_written:
            job = yield from self.making_job(every_log())
            is_written = yield job.run

    def write(self, job: CheckpointJob) -> bool:
        """Whether the files are now as the job says, or as a later one did. Else a later one was to
        be written instead, and has failed, or has not come yet."""
        with self._lock:
            if job.version == self._version and job.number >= self._last_begun:
                self._write(job)
            return job.number <= self._last_written

    def _write(self, job: CheckpointJob) -> None:
        self._last_begun = job.number
        self._recovery_points.write(job.offsets.recovery_points)
        # A log never starts above its high watermark; in this order neither do the files say.
        self._high_watermarks.write(job.offsets.high_watermarks)
        self._log_starts.write(job.offsets.log_starts)
        self._last_written = job.number


class CheckpointJob:
    def __init__(
        self, checkpoints: DirectoryCheckpoints, version: int, offsets: SavedOffsets, number: int
    ) -> None:
        self.version = version
        self.offsets = offsets
        self.number = number  # in the order in which jobs were begun
        self._checkpoints = checkpoints

    def run(self) -> bool:
        """See `write`."""
        return self._checkpoints.write(self)


def _note(log: Log, saved: SavedOffsets) -> None:
    points, starts, marks = saved
    points[log.partition] = point = log.recovery_checkpoint
    log.offsets.checkpoint_begins(point)
    marks[log.partition] = log.high_watermark
    starts.pop(log.partition, None)
    if log.log_start_offset > log.segments[0].base_offset:
        starts[log.partition] = log.log_start_offset


def _read(checkpoint: OffsetCheckpoint) -> Offsets:
    try:
        return checkpoint.read()
    except CorruptLogError as error:
        logger.error("a checkpoint is damaged, and counts as empty: %s", error)
        return {}
