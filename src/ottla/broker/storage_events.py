"""What the broker does when its logs change: which logs to sync next, what compaction forgets.

Owns      the logs to sync, in the order in which they reported it, and the compactors of the log
          directories. Both exist before the logs are opened, so that no change is missed.
Leaves    syncing and compacting to `housekeeping.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Job
from ottla.storage.compaction.cleaner_offsets import CleanerOffsets
from ottla.storage.compaction.compactor import Compactor
from ottla.storage.compaction.request import CleaningLimits
from ottla.storage.log.log import Log


class StorageEvents:
    def __init__(self, files: FileSystem, on_storage_failure: Callable[[], None]) -> None:
        self._files = files
        self._on_storage_failure = on_storage_failure
        self._unsynced: dict[Log, None] = {}
        self._compactors: dict[str, Compactor] = {}

    # What logs report

    def log_needs_sync(self, log: Log) -> None:
        self._unsynced[log] = None

    def log_truncated(self, log: Log) -> None:
        """Compaction must not take what is appended next for clean."""
        compactor = self.compactor(log.context.directory)
        compactor.truncated(log.partition, log.log_end_offset)

    def log_removed(self, directory: str, partition: TopicPartition) -> None:
        self.compactor(directory).removed(partition)

    def removal_job(self, directory: str) -> Job:
        return self.compactor(directory).offsets.job()

    def storage_failed(self) -> None:
        self._on_storage_failure()

    # What housekeeping reads

    def take_unsynced(self) -> list[Log]:
        unsynced, self._unsynced = self._unsynced, {}
        return list(unsynced)

    def compactor(self, directory: str) -> Compactor:
        """Created when first needed: a directory may fail before anything is read there."""
        found = self._compactors.get(directory)
        if found is None:
            found = Compactor(CleanerOffsets(self._files, directory), CleaningLimits())
            self._compactors[directory] = found
        return found

    def known_compactor(self, directory: str) -> Compactor | None:
        return self._compactors.get(directory)
