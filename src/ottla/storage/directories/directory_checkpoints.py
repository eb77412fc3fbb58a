"""The checkpoints of a log directory: recovery points, log starts, high watermarks.

Owns      `recovery-point-offset-checkpoint`, `log-start-offset-checkpoint` and
          `replication-offset-checkpoint` of one directory.
Promises  a recovery point or log start on disk is never above that of the open log: when one is
          lowered, it is written before records are changed, and no write that began earlier can
          undo that. What a job has written, no job that began earlier undoes.
          A damaged checkpoint counts as empty: logs are then read from their start.
Threads   `CheckpointJob.run` in any; everything else in that of the logs.
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
        self._last_written = 0  # completely: a write may fail on a full disk

    def read(self) -> SavedOffsets:
        """The files. Entries of logs that are not open (yet) are written again unchanged."""
        found = SavedOffsets(
            _read(self._recovery_points), _read(self._log_starts), _read(self._high_watermarks)
        )
        self._carried = SavedOffsets(*map(dict, found))
        return found

    def forget(self, partition: TopicPartition) -> None:
        """The log is open now, or was removed: its entry is not written again."""
        for offsets in self._carried:
            offsets.pop(partition, None)

    def carry(self, log: Log) -> None:
        """The files of a log are missing. Keep its entry in case they are restored.

        Its recovery point is the high watermark: a broker that starts with an older copy of the
        files, or with none, must notice that acknowledged records are missing.
        """
        point = max(log.recovery_checkpoint, log.high_watermark)
        self._carried.recovery_points[log.partition] = point
        self._carried.high_watermarks[log.partition] = log.high_watermark
        if log.log_start_offset > log.segments[0].base_offset:
            self._carried.log_starts[log.partition] = log.log_start_offset

    def carried_of(self, partition: TopicPartition) -> tuple[Checkpoint, int]:
        """The entry of a log that is not open, with its high watermark."""
        points, starts, marks = self._carried
        checkpoint = Checkpoint(points.get(partition), max(0, starts.get(partition, 0)))
        return checkpoint, marks.get(partition, 0)

    def carries(self, partition: TopicPartition) -> bool:
        """Whether there is an entry of a log that is not open."""
        return any(partition in offsets for offsets in self._carried)

    def has_records_of(self, partition: TopicPartition) -> bool:
        """Whether there is an entry of a log with records that is not open."""
        return any(offsets.get(partition, 0) > 0 for offsets in self._carried)

    @property
    def not_open(self) -> set[TopicPartition]:
        """The partitions with an entry whose log is not open."""
        return {partition for offsets in self._carried for partition in offsets}

    def write_now(self, logs: Iterable[Log]) -> None:
        """Write all three, and block until it is done. Earlier jobs write nothing any more."""
        logs = list(logs)
        job = run_blocking(self.making_urgent_job(logs))
        job.run()
        for log in logs:
            log.offsets.checkpoint_written(job.offsets.recovery_points[log.partition])

    def making_urgent_job(self, logs: Sequence[Log]) -> Steps[CheckpointJob]:
        """As `making_job`; earlier jobs write nothing from now on."""
        # Without the lock: this thread must not wait for the syncs of a write in progress, which
        # is followed by that of the job.
        self._version += 1
        return self.making_job(logs)

    def making_job(self, logs: Sequence[Log]) -> Steps[CheckpointJob]:
        """A write for a thread. Making it yields, because there may be many logs.

        Its version is that of the beginning: if an offset is lowered during a pause, or a log is
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
        """Write the current offsets, or later ones. OSError if that fails: a job may leave the
        write to a later one, which a full disk refuses."""
        is_written = False
        while not is_written:
            job = yield from self.making_job(every_log())
            is_written = yield job.run

    def write(self, job: CheckpointJob) -> bool:
        """Whether the files have the offsets of the job, or of a later one. Otherwise a later one
        was to be written instead, and has failed, or has not run yet."""
        with self._lock:
            if job.version == self._version and job.number >= self._last_begun:
                self._write(job)
            return job.number <= self._last_written

    def _write(self, job: CheckpointJob) -> None:
        self._last_begun = job.number
        self._recovery_points.write(job.offsets.recovery_points)
        # A log never starts above its high watermark; in this order, neither does it in the files.
        self._high_watermarks.write(job.offsets.high_watermarks)
        self._log_starts.write(job.offsets.log_starts)
        self._last_written = job.number


class CheckpointJob:
    def __init__(
        self, checkpoints: DirectoryCheckpoints, version: int, offsets: SavedOffsets, number: int
    ) -> None:
        self.version = version
        self.offsets = offsets
        self.number = number  # in the order in which jobs began
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
