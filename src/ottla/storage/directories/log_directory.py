"""One log directory of a broker.

Owns      the parts of a directory and their order at start and stop: ownership, checkpoints, logs,
          deletions, strays; creating logs; the clean-shutdown marker.
Promises  the marker is written only if every log was opened and closed without an error. Nothing is
          written to a directory that has replaced this one.
Leaves    opening the logs at start to `directory_loading.py`, the choice among directories to
          `log_manager.py`.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from random import Random

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Job, Start, run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.directory_checkpoints import DirectoryCheckpoints
from ottla.storage.directories.directory_deletions import (
    DirectoryDeletions,
    unique_directory_name,
)
from ottla.storage.directories.directory_logs import DirectoryLogs
from ottla.storage.directories.directory_ownership import DirectoryOwnership, Owner
from ottla.storage.directories.directory_strays import DirectoryStrays
from ottla.storage.errors import StorageError
from ottla.storage.files.clean_shutdown import CleanShutdown, write_clean_shutdown
from ottla.storage.files.directory_health import DirectoryHealth, StorageUnavailable
from ottla.storage.files.file_names import (
    CLEAN_SHUTDOWN_NAME,
    DirectoryMark,
    partition_directory_name,
)
from ottla.storage.log.log import Log
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.log_listener import LogListener
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound

RunAll = Callable[[Sequence[Job]], None]  # returns when all have ended, raises what one raised


def run_in_order(works: Sequence[Job]) -> None:
    for work in works:
        work()


class LogDirectory:
    def __init__(
        self,
        files: FileSystem,
        clock: Clock,
        random: Random,
        path: str,
        listener: LogListener,
        on_failure: Callable[[str], None],
        *,
        start: Start = run_blocking,
        producers: ProducerBound = UNBOUNDED,
    ) -> None:
        self.path = path
        self.files = files
        self.health = DirectoryHealth(path, on_failure, clock.monotonic_s)
        self.ownership = DirectoryOwnership(files, path)
        self.checkpoints = DirectoryCheckpoints(files, path)
        self.table = DirectoryLogs(self.checkpoints)
        self.context = LogContext(
            files, clock, random, self.health, listener, self.table, start, producers
        )
        self.deletions = DirectoryDeletions(
            self.context,
            self.ownership,
            self.table,
            self.checkpoints,
            set_aside=lambda log: self.strays.set_aside_one(log),
        )
        self.strays = DirectoryStrays(self.context, self.table, self.checkpoints, self.deletions)
        self.last_shutdown: CleanShutdown | None = None  # None after an unclean stop
        self.is_loaded = False
        self.is_withheld = False  # unused, and not to be used while another directory is missing
        self._created_in_part: set[str] = set()  # partition directories, by this process

    def __repr__(self) -> str:
        return f"LogDirectory({self.path!r}, {len(self.logs)} logs)"

    @property
    def logs(self) -> dict[TopicPartition, Log]:
        return self.table.current

    @property
    def future_logs(self) -> dict[TopicPartition, Log]:
        return self.table.future

    @property
    def directory_id(self) -> bytes | None:
        return self.ownership.directory_id

    def open(self, owner: Owner) -> None:
        self.ownership.open(owner)

    def withhold(self, why: str) -> None:
        """Take the unused directory offline: another one is missing."""
        self.is_withheld = True
        self.health.failed("opening", OSError(errno.ENOENT, why, self.path))

    def loading_begins(self, last_shutdown: CleanShutdown | None) -> None:
        self.last_shutdown = last_shutdown

    def loading_ended(self) -> None:
        """Every log was opened, or cannot be opened."""
        self.is_loaded = True

    # Logs

    def create(
        self,
        partition: TopicPartition,
        config: TopicConfig,
        topic_id: TopicId | None,
        *,
        is_future: bool = False,
    ) -> Log:
        """An empty log. StorageError if a directory of that name exists.

        It becomes durable with its first sync, before the first record does: until then the
        metadata of the cluster is enough to create it again.
        """
        self.health.check()
        self.deletions.free_name(partition)
        name = partition_directory_name(partition)
        if is_future:
            name = unique_directory_name(partition, DirectoryMark.FUTURE)
        path = f"{self.path}/{name}"
        try:
            if path not in self._created_in_part and self.files.exists(path):
                raise StorageError(f"{path} exists, though no log of that name is known")
            self.ownership.check_in_place()  # a log directory that was removed is not recreated
            self.files.make_directory(path)
            self._created_in_part.add(path)
            log = open_log(self.context, partition, path, config, Checkpoint())
            if topic_id is not None:
                log.topic_id.write_unsynced(topic_id)
        except OSError as error:
            raise self.health.refused(f"creating {path}", error) from error
        self._created_in_part.discard(path)
        self.table.add(log, is_future=is_future)
        self.context.listener.log_needs_sync(log)
        return log

    def has_created_in_part(self, partition: TopicPartition) -> bool:
        """Whether creating its log failed here. The rest has no records, and the next attempt must
        be made here: two directories must not have the same partition."""
        return f"{self.path}/{partition_directory_name(partition)}" in self._created_in_part

    def has_lost(self, partition: TopicPartition, topic_id: TopicId | None) -> bool:
        """Whether the checkpoints have a log with records that does not exist, not even as a
        stray."""
        is_stray = self.strays.has_one_of(partition, topic_id)
        return not is_stray and self.checkpoints.has_records_of(partition)

    def promote_future(self, partition: TopicPartition) -> Log:
        """The future log has all records, and gets the name of the deleted current one."""
        self.health.check()
        log = self.table.future[partition]
        path = f"{self.path}/{partition_directory_name(partition)}"
        try:
            self.files.rename(log.path, path)
            self.files.sync_directory(self.path)
        except OSError as error:
            raise self.health.failed(f"renaming {log.path}", error) from error
        log.moved(path)
        self.table.promote_future(partition)
        return log

    # Stopping

    def close(self, broker_epoch: int = -1, run_all: RunAll = run_in_order) -> None:
        """Close every log, then write the clean-shutdown marker. After a failure only the files are
        closed.

        `run_all` may close several logs at a time: most of it is waiting for syncs.
        """
        try:
            if self.health.is_online and self.is_loaded:
                self.ownership.check_in_place()
                run_all([log.close for log in self.table.every()])
                self.health.check()
                self.table.write_checkpoints()
                path = f"{self.path}/{CLEAN_SHUTDOWN_NAME}"
                write_clean_shutdown(self.files, path, broker_epoch)
        except OSError as error:
            self.health.failed(f"closing {self.path}", error)
        except StorageUnavailable:
            pass  # the failure is reported; without the marker the next start recovers
        finally:
            self.release()

    def release(self) -> None:
        """Close all files as they are, and unlock the directory."""
        for log in [*self.table.every(), *self.table.lost]:
            log.release()
        self.ownership.release()
