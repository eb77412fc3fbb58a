"""The offset up to which each log of a log directory is clean: `cleaner-offset-checkpoint`.

Owns      the file and its offsets.
Promises  an offset increases only after the swap of the cleaned segments is durable: after a crash
          in between, the log is cleaned again. A file that cannot be read counts as empty: then
          every log is dirty from its start.
Threads   a job may run in any; everything else in the log's.
Leaves    offsets that do not fit their log to `plan.py`, which corrects them.
"""

from __future__ import annotations

import logging
import threading
from functools import partial

from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Job
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import CLEANER_OFFSETS_NAME

log = logging.getLogger(__name__)


class CleanerOffsets:
    def __init__(self, files: FileSystem, directory: str) -> None:
        self._checkpoint = OffsetCheckpoint(files, f"{directory}/{CLEANER_OFFSETS_NAME}")
        self._offsets = self._load()
        self._lock = threading.Lock()
        self._changes = 0
        self._changes_written = 0

    def get(self, partition: TopicPartition) -> int | None:
        return self._offsets.get(partition)

    def set(self, partition: TopicPartition, offset: int) -> None:
        """Change the offset; the next job writes it."""
        if self._offsets.get(partition) != offset:
            self._offsets[partition] = offset
            self._changes += 1

    def truncate(self, partition: TopicPartition, offset: int) -> None:
        """The log was truncated to `offset`: what follows is dirty. Written immediately."""
        if self._offsets.get(partition, 0) > offset:
            self.set(partition, offset)
            self.job()()

    def remove(self, partition: TopicPartition) -> None:
        """The log was deleted, or has moved to another directory."""
        if self._offsets.pop(partition, None) is not None:
            self._changes += 1

    @property
    def is_written(self) -> bool:
        return self._changes_written == self._changes

    def job(self) -> Job:
        """Write the current offsets, in a thread; a newer file is not overwritten."""
        return partial(self._write, dict(self._offsets), self._changes)

    def _write(self, offsets: dict[TopicPartition, int], changes: int) -> None:
        with self._lock:
            if changes > self._changes_written:
                self._checkpoint.write(offsets)
                self._changes_written = changes

    def _load(self) -> dict[TopicPartition, int]:
        try:
            return self._checkpoint.read()
        except CorruptLogError as error:
            log.warning("all logs count as dirty: %s", error)
            return {}
