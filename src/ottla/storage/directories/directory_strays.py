"""Partition directories that are out of use and are not deleted: strays.

The metadata does not place them here, and no reason for deletion fits. They are renamed to `-stray`
and stay until their topic, by id, is in the metadata again.

Owns      the table of directories out of use, and the way into it and back.
Promises  what the checkpoints contain about a log is stored in its directory before they forget
          it, and is in the checkpoints again before it is removed there.
Leaves    what a directory out of use contains to `set_aside.py`, deciding to the replica manager.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from ottla.base.ids import TopicId, TopicPartition
from ottla.base.topic_deletion import DeletionEvidence
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.directory_checkpoints import DirectoryCheckpoints
from ottla.storage.directories.directory_deletions import (
    DirectoryDeletions,
    unique_directory_name,
)
from ottla.storage.directories.directory_logs import DirectoryLogs
from ottla.storage.directories.set_aside import (
    SetAside,
    SetAsideTable,
    describe,
    has_records,
    read_offsets,
    remove_offsets,
    write_offsets,
)
from ottla.storage.errors import StorageError
from ottla.storage.files.file_names import DirectoryMark, partition_directory_name
from ottla.storage.log.log import Log
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.recovery import open_log

logger = logging.getLogger(__name__)


class DirectoryStrays:
    def __init__(
        self,
        context: LogContext,
        logs: DirectoryLogs,
        checkpoints: DirectoryCheckpoints,
        deletions: DirectoryDeletions,
    ) -> None:
        self.table = SetAsideTable()
        self._context = context
        self._path = context.directory
        self._files = context.files
        self._health = context.health
        self._logs = logs
        self._checkpoints = checkpoints
        self._deletions = deletions
        self._taken_back: list[str] = []  # paths of logs whose offsets no checkpoint has yet

    @property
    def paths(self) -> list[str]:
        """The paths of the `-stray` directories."""
        return [each.path for each in self.table if each.mark is DirectoryMark.STRAY]

    # Out of use

    def set_aside(self, logs: Iterable[Log]) -> None:
        """Rename the directories of logs that the metadata does not place here."""
        self._health.check()
        strays = list(logs)
        try:
            for log in strays:
                self._write_offsets(log)
                self._logs.remove(log)
                self._deletions.report_removed(log.partition)
            self._deletions.write_removed()
            for log in strays:
                self._set_aside(log)
            self._files.sync_directory(self._path)
        except OSError as error:
            raise self._health.failed(f"setting aside strays in {self._path}", error) from error

    def set_aside_one(self, log: Log) -> None:
        """Rename the directory of one log. Durable after the next sync of the parent directory."""
        self._write_offsets(log)
        self._set_aside(log)

    def _write_offsets(self, log: Log) -> None:
        if self._files.exists(log.path):
            point, start = log.recovery_checkpoint, log.log_start_offset
            write_offsets(self._files, log.path, point, start, log.high_watermark)

    def _set_aside(self, log: Log) -> None:
        if self._deletions.rename(log, DirectoryMark.STRAY):
            self.table.add(describe(self._files, log.path, log.partition, DirectoryMark.STRAY))
            logger.warning("%s is set aside: the metadata does not place it here", log.path)
        log.release()

    def keep(self, found: Sequence[SetAside]) -> None:
        """Set aside directories that were found at start, and that no reason allows to delete."""
        self._health.check()
        try:
            for each in found:
                self._keep_offsets(each)
            self._deletions.write_removed()
            for each in found:
                path = self._rename_found(each, DirectoryMark.STRAY)
                logger.warning("%s is set aside as %s", each.path, path)
            self._files.sync_directory(self._path)
        except OSError as error:
            raise self._health.failed(f"setting aside strays in {self._path}", error) from error

    def _keep_offsets(self, found: SetAside) -> None:
        if self._checkpoints.has_records_of(found.partition):
            checkpoint, high_watermark = self._checkpoints.carried_of(found.partition)
            point, start = checkpoint.recovery_point or 0, checkpoint.log_start_offset
            write_offsets(self._files, found.path, point, start, high_watermark)
            self._checkpoints.forget(found.partition)
        self._deletions.report_removed(found.partition)

    def _rename_found(self, found: SetAside, mark: DirectoryMark) -> str:
        path = f"{self._path}/{unique_directory_name(found.partition, mark)}"
        self._files.rename(found.path, path)
        self.table.remove(found)
        self.table.add(found._replace(path=path, mark=mark))
        return path

    # Deleted after all

    def delete_found(self, found: SetAside, deletion: DeletionEvidence) -> None:
        """A directory of a topic that was deleted while the directory was not accessible."""
        if found.topic_id != deletion.topic_id:
            raise ValueError(f"{found.path} is not of the topic that was deleted")
        self._health.check()
        try:
            path = self._rename_found(found, DirectoryMark.DELETE)
        except OSError as error:
            raise self._health.failed(f"deleting {found.path}", error) from error
        self.resume_deletion(found._replace(path=path, mark=DirectoryMark.DELETE))
        logger.info("%s is of a topic that was deleted, and is deleted now", found.path)

    def resume_deletion(self, found: SetAside) -> None:
        """A `-delete` directory of a deleted topic, or of a partition whose log is in another
        directory, or without records."""
        self.table.remove(found)
        self._deletions.resume_removal(found.path, found.partition)

    def has_records(self, found: SetAside) -> bool:
        return has_records(self._files, found.path)

    # In use again

    def take_back(self, found: SetAside, partition: TopicPartition, config: TopicConfig) -> Log:
        """The metadata has the topic of the directory: open its log, under its old name.

        StorageError if another file has that name, or the log cannot be opened.
        """
        self._health.check()
        self._deletions.free_name(partition)
        path = f"{self._path}/{partition_directory_name(partition)}"
        try:
            if self._files.exists(path):
                raise StorageError(f"{found.path} cannot be used: {path} exists")
            offsets = read_offsets(self._files, found.path)
            checkpoint, high_watermark = offsets or self._checkpoints.carried_of(partition)
            self._files.rename(found.path, path)
            self.table.remove(found)
            self._files.sync_directory(self._path)
            log = open_log(self._context, partition, path, config, checkpoint)
        except OSError as error:
            raise self._health.refused(f"opening {found.path}", error) from error
        self.note_taken_back(path)
        log.topic_id.set_known(found.topic_id)
        log.update_high_watermark(high_watermark)
        self._logs.add(log)
        self._checkpoints.forget(partition)
        self._context.listener.log_needs_sync(log)
        logger.warning("%s is in use again as %s", found.path, path)
        return log

    def note_taken_back(self, path: str) -> None:
        """The log was opened with the offsets that are stored in its directory."""
        self._taken_back.append(path)

    def finish_taking_back(self) -> None:
        """Write the offsets of logs that were taken back to the checkpoints."""
        if not self._taken_back or not self._health.is_online:
            return
        paths, self._taken_back = self._taken_back, []
        try:
            self._logs.write_checkpoints()
            for path in paths:
                remove_offsets(self._files, path)
        except OSError as error:
            self._health.refused(f"writing checkpoints in {self._path}", error)

    def has_one_of(self, partition: TopicPartition, topic_id: TopicId | None) -> bool:
        return topic_id is not None and bool(self.table.of(topic_id, partition.partition))
