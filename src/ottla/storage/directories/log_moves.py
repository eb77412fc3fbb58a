"""Moving logs from one log directory of a broker to another.

A future log is a copy of a log in another directory. Once it has all records it replaces the
current one, which is deleted.

Promises  after a crash at any step the partition has its current log, or a future log with all
          records.
Leaves    copying the records to `log/log_copying.py` and replication.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.directories.deletion_reasons import CopyRemains, LogDeletion
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.errors import StorageError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import DirectoryMark
from ottla.storage.log.log import Log

if TYPE_CHECKING:
    from ottla.storage.directories.log_manager import LogManager

logger = logging.getLogger(__name__)


class LogMoves:
    def __init__(self, logs: LogManager) -> None:
        self._logs = logs
        self._locations = logs.locations

    def get(self, partition: TopicPartition) -> Log | None:
        """The future log; None if there is none, StorageUnavailable if its directory failed."""
        directory = self._locations.future.get(partition)
        if directory is None:
            return None
        directory.health.check()
        return directory.future_logs[partition]

    def target_of(self, partition: TopicPartition) -> LogDirectory | None:
        """The directory to which it is moving."""
        return self._locations.future.get(partition)

    def partitions(self) -> list[TopicPartition]:
        """The partitions that are moving."""
        return list(self._locations.future)

    def begin(self, partition: TopicPartition, config: TopicConfig, directory: LogDirectory) -> Log:
        """An empty future log in another directory."""
        current = self._logs.get(partition)
        if current is None or directory is self._locations.current[partition]:
            raise BrokerError(ErrorCode.LOG_DIR_NOT_FOUND, f"{partition} cannot move there")
        log = directory.create(partition, config, current.topic_id.load(BLOCKING), is_future=True)
        self._locations.future[partition] = directory
        return log

    def finish(self, partition: TopicPartition) -> Log:
        """The future log has all records: it becomes the current one. The old one is deleted,
        durably once `LogManager.finishing_deletion` has run."""
        old_place, new_place = self._locations.current[partition], self._locations.future[partition]
        reason = CopyRemains(new_place.future_logs[partition])
        old_place.deletions.make_way(LogDeletion(old_place.logs[partition], reason))
        self._locations.promote_future(partition)  # even if that fails now
        return new_place.promote_future(partition)

    def cancel(self, partition: TopicPartition) -> None:
        """The partition stays where it is. StorageUnavailable, and nothing is deleted, if its
        current log is out of reach: the future one may be the only copy."""
        directory = self._locations.future.get(partition)
        if directory is not None:
            if (current := self._logs.get(partition)) is None:
                raise StorageUnavailable(f"{partition} has no log but its future one")
            del self._locations.future[partition]
            deletion = LogDeletion(directory.future_logs[partition], CopyRemains(current))
            directory.deletions.delete([deletion])

    def finish_interrupted(self) -> None:
        """At start: a future log without a current one has all records, because the old one was
        deleted before the crash. It has not if the current one was lost, or is set aside and may be
        taken back."""
        for partition, directory in list(self._locations.future.items()):
            if self._is_current_deleted(partition, directory.future_logs[partition]):
                try:
                    directory.promote_future(partition)
                except StorageUnavailable as error:
                    logger.error("%s has no log until the next start: %s", partition, error)
                else:
                    self._locations.promote_future(partition)

    def _is_current_deleted(self, partition: TopicPartition, future: Log) -> bool:
        try:
            topic_id = future.topic_id.load(BLOCKING)
        except StorageError:
            topic_id = None
        if partition in self._locations.current or self._logs.is_out_of_reach(partition, topic_id):
            return False
        return not any(
            each.mark is DirectoryMark.STRAY
            for directory in self._logs.online
            for each in directory.strays.table.of(topic_id, partition.partition)
        )
