"""Deleting partition directories of one log directory.

A log is renamed to `-delete` at once. The deletion is pending until the name is synced, and neither
the checkpoints nor the listener keep anything about the log; the files are removed later.

Owns      pending deletions, and the rename and removal of partition directories.
Promises  a log is deleted for one of the reasons in `deletion_reasons.py`, and set aside otherwise.
          A later log of the same name inherits nothing: it is not created while the deletion of an
          older one is pending.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Steps
from ottla.base.uuids import random_uuid
from ottla.storage.directories.deletion_reasons import LogDeletion, fault_of
from ottla.storage.directories.directory_checkpoints import DirectoryCheckpoints
from ottla.storage.directories.directory_logs import DirectoryLogs
from ottla.storage.directories.directory_ownership import DirectoryOwnership
from ottla.storage.files.file_names import (
    NAME_CHARACTERS_MAX,
    DirectoryMark,
    marked_directory_name,
    partition_directory_name,
)
from ottla.storage.log.deletion import Removal
from ottla.storage.log.log import Log
from ottla.storage.log.log_context import LogContext

logger = logging.getLogger(__name__)


class DirectoryDeletions:
    def __init__(
        self,
        context: LogContext,
        ownership: DirectoryOwnership,
        logs: DirectoryLogs,
        checkpoints: DirectoryCheckpoints,
        set_aside: Callable[[Log], None],
    ) -> None:
        """`set_aside` is for a log that the reason of its deletion does not fit."""
        self._context = context
        self._path = context.directory
        self._files = context.files
        self._health = context.health
        self._ownership = ownership
        self._logs = logs
        self._checkpoints = checkpoints
        self._set_aside = set_aside
        self._pending: dict[TopicPartition, str] = {}  # paths, by the name that they had

    # Pending deletions

    @property
    def is_pending(self) -> bool:
        return bool(self._pending) and self._health.is_online

    def is_pending_for(self, partition: TopicPartition) -> bool:
        """Whether a log of this name cannot be created before `finish`."""
        return partition in self._pending and self._health.is_online

    def free_name(self, partition: TopicPartition) -> None:
        """No older log of this name may come back after a power failure."""
        if self.is_pending_for(partition):
            self.finish()

    def finish(self) -> None:
        """Make pending deletions durable."""
        try:
            self._files.sync_directory(self._path)
        except OSError as error:
            raise self._health.unsynced(f"deleting logs in {self._path}", error) from error
        try:
            self.write_removed()
        except OSError as error:
            raise self._health.refused(f"deleting logs in {self._path}", error) from error
        self._pending.clear()

    def finishing(self) -> Steps[None]:
        """The same in steps. On a full disk the deletions stay pending."""
        if not self.is_pending:
            return
        finished = dict(self._pending)
        job = yield from self._logs.making_urgent_checkpoint_job()
        removal_job = self._context.listener.removal_job(self._path)
        try:
            yield lambda: self._files.sync_directory(self._path)
        except OSError as error:
            raise self._health.unsynced(f"deleting logs in {self._path}", error) from error
        try:
            yield removal_job  # first: after a crash in between, the checkpoints have the name
            while not (yield job.run):  # a later job was to be written instead, and was refused
                job = yield from self._logs.making_urgent_checkpoint_job()
        except OSError as error:
            raise self._health.refused(f"deleting logs in {self._path}", error) from error
        for partition, path in finished.items():
            if self._pending.get(partition) == path:  # and not a later log of this name
                del self._pending[partition]

    def write_removed(self) -> None:
        """Durably: no later log inherits a recovery point, or anything else, from a removed one."""
        self._context.listener.removal_job(self._path)()
        self._logs.write_checkpoints()

    # Logs

    def delete(self, deletions: Iterable[LogDeletion]) -> None:
        """Take logs out of use, and queue their directories for removal. A log that the reason
        does not fit is set aside."""
        self.begin(deletions)
        self.finish()

    def begin(self, deletions: Iterable[LogDeletion]) -> None:
        """As `delete`, but pending until `finishing` has run, or the name is used again."""
        self._health.check()
        try:
            for each in list(deletions):
                if (fault := fault_of(each)) is not None:
                    logger.error("%s is not deleted: %s", each.log.path, fault)
                    self._set_aside(each.log)
                else:
                    self._begin_deleting(each.log)
        except OSError as error:
            raise self._health.failed(f"deleting logs in {self._path}", error) from error

    def _begin_deleting(self, log: Log) -> None:
        self._checkpoints.forget(log.partition)
        if self.rename(log, DirectoryMark.DELETE):
            self._queue_removal(log.path, log)
        else:
            log.release()
        self._pending[log.partition] = log.path

    def make_way(self, deletion: LogDeletion) -> None:
        """The log of another directory is to replace this one, which cannot come back from now."""
        self.begin([deletion])
        try:
            self._files.sync_directory(self._path)
        except OSError as error:
            raise self._health.failed(f"deleting {deletion.log.path}", error) from error

    def drop_lost(self, partition: TopicPartition) -> None:
        """Remove what the checkpoints keep of a log whose files are missing: its topic was
        deleted, or a new log is created, which must not inherit it after a crash."""
        if self._checkpoints.carries(partition):
            self._checkpoints.forget(partition)
            self.report_removed(partition)
            self._pending[partition] = f"{self._path}/{partition_directory_name(partition)}"

    def resume_removal(self, path: str, partition: TopicPartition) -> None:
        """A `-delete` directory that an earlier run has left, possibly removed in part."""
        self._queue_removal(path, None)
        for name in {partition, *self._truncated_names(path, partition)}:
            if name not in self._logs.current and name not in self._logs.unreadable:
                self._checkpoints.forget(name)
                self.report_removed(name)
                self._pending[name] = path

    def _truncated_names(self, path: str, partition: TopicPartition) -> list[TopicPartition]:
        """Partitions whose topic may have been truncated to fit into the directory name."""
        if len(path.rpartition("/")[2]) < NAME_CHARACTERS_MAX:
            return []
        return [
            each
            for each in self._checkpoints.not_open
            if each.partition == partition.partition and each.topic.startswith(partition.topic)
        ]

    def rename(self, log: Log, mark: DirectoryMark) -> bool:
        """Take a log out of use. False if another process has removed its directory."""
        path = f"{self._path}/{unique_directory_name(log.partition, mark)}"
        try:
            self._files.rename(log.path, path)
        except FileNotFoundError:
            self._ownership.check_in_place()
            logger.error("%s was removed by another process", log.path)
            is_renamed = False
        else:
            log.moved(path)
            is_renamed = True
        self._logs.remove(log)
        self.report_removed(log.partition)
        return is_renamed

    def report_removed(self, partition: TopicPartition) -> None:
        self._context.listener.log_removed(self._path, partition)

    def _queue_removal(self, path: str, log: Log | None) -> None:
        delay_ms = log.config.file_delete_delay_ms if log is not None else 0
        close = None if log is None else log.release
        removal = Removal(self._files, [path], close=close, is_directory=True)
        self._context.deletions.add(removal, self._context.clock.now_ms() + delay_ms)


def unique_directory_name(partition: TopicPartition, mark: DirectoryMark) -> str:
    return marked_directory_name(partition, mark, random_uuid().hex())
