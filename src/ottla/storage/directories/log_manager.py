"""All logs of a broker, over all its log directories.

Owns      which directory holds which partition, and where the next one goes.
Promises  a directory that fails takes its partitions with it and nothing else: they answer
          KAFKA_STORAGE_ERROR, those of other directories go on. A log is deleted only if somebody
          says so, by name or as one of a topic that was deleted: one that is merely not in the
          metadata is set aside and reported.
Leaves    when to check retention, write checkpoints, sync and delete to the broker, which calls
          these methods and runs the jobs they return.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from random import Random

from ottla.base.clock import Clock
from ottla.base.filesystem import FileSystem
from ottla.base.ids import TopicId, TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.directories.directory_checkpoints import CheckpointJob
from ottla.storage.directories.directory_loading import ConfigOf, LoadStep, load_logs
from ottla.storage.directories.log_directory import (
    LogDirectory,
    Owner,
    RunAll,
    WrongDirectory,
    run_in_order,
)
from ottla.storage.errors import StorageError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.deletion import Removal
from ottla.storage.log.flushing import is_flush_due
from ottla.storage.log.log import Log
from ottla.storage.log.steps import Steps

logger = logging.getLogger(__name__)


class LogManager:
    def __init__(
        self, files: FileSystem, clock: Clock, random: Random, paths: Iterable[str]
    ) -> None:
        self.directories = [LogDirectory(files, clock, random, path) for path in paths]
        self.on_failure: Callable[[LogDirectory, list[TopicPartition]], None] = lambda *_: None
        self.on_last_failure: Callable[[], None] = lambda: None  # no directory is left
        self._clock = clock
        self._places: dict[TopicPartition, LogDirectory] = {}
        self._future_places: dict[TopicPartition, LogDirectory] = {}
        self._duplicates: set[TopicPartition] = set()  # found in several directories
        for directory in self.directories:
            directory.health.on_failure = self._directory_failed

    # Starting and stopping

    def take(self) -> None:
        """Lock all directories, so that nobody else uses them from here on.

        One that fails is left out; the last one that is left may not.
        """
        for directory in self.online:
            try:
                directory.take()
            except OSError as error:
                directory.health.failed("opening", error)
        self._require_one()

    def open(self, owner: Owner) -> None:
        """Take all directories, and check whose they are."""
        self.take()
        for directory in self.online:
            try:
                directory.open(owner)
            except OSError as error:
                directory.health.failed("opening", error)
        ids = [directory.directory_id for directory in self.online]
        if len(set(ids)) != len(ids):
            raise WrongDirectory("two log directories have the same directory.id")
        self._require_one()

    def load(self, config_of: ConfigOf) -> Iterator[LoadStep]:
        """Open all logs, one a step. `settle_duplicates` comes next."""
        for directory in self.online:
            yield from load_logs(directory, config_of)
        for directory in self.online:
            self._find_places(directory)
        self._finish_moves()
        self._require_one()

    def _find_places(self, directory: LogDirectory) -> None:
        for places, logs in (
            (self._places, directory.logs),
            (self._future_places, directory.future_logs),
        ):
            for partition in logs:
                if partition in places:
                    self._duplicates.add(partition)
                else:
                    places[partition] = directory

    def settle_duplicates(self, was_deleted: Callable[[Log], bool]) -> None:
        """Of several logs of a partition, those of deleted topics go. StorageError for the rest.

        A directory that was away while its topic was deleted comes back with the log; by then
        another one may hold a new log of that name, and this one may be on its way there.
        """
        contested = self._duplicates | self._future_places.keys()
        if not contested:
            return
        for directory in self.online:
            self._delete_left_over(directory, contested, was_deleted)
        self._duplicates.clear()
        self._places.clear()
        self._future_places.clear()
        for directory in self.online:
            self._find_places(directory)
        if self._duplicates:
            partition = min(self._duplicates)
            places = [each.path for each in self.online if each.logs_of([partition])]
            raise StorageError(f"{partition} is both in {' and in '.join(places)}")

    def _delete_left_over(
        self,
        directory: LogDirectory,
        partitions: Iterable[TopicPartition],
        was_deleted: Callable[[Log], bool],
    ) -> None:
        doomed = [log for log in directory.logs_of(partitions) if was_deleted(log)]
        for log in doomed:
            logger.info("%s is of a topic that was deleted, and is deleted now", log.path)
        try:
            if doomed:
                directory.delete(doomed)
        except StorageUnavailable as error:
            logger.error("deleted topics are still on disk: %s", error)

    def _finish_moves(self) -> None:
        """A future log without a current one has caught up: the old one went before the crash."""
        for partition, directory in list(self._future_places.items()):
            if partition not in self._places and not self.is_out_of_reach(partition):
                try:
                    directory.promote_future(partition)
                except StorageUnavailable as error:
                    logger.error("%s has no log until the next start: %s", partition, error)
                else:
                    self._places[partition] = self._future_places.pop(partition)

    def close(self, broker_epoch: int = -1, run_all: RunAll = run_in_order) -> None:
        for directory in self.directories:
            directory.close(broker_epoch, run_all)

    @property
    def had_clean_shutdown(self) -> bool:
        return all(directory.last_shutdown is not None for directory in self.directories)

    # Finding

    @property
    def online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if directory.health.is_online]

    @property
    def logs(self) -> list[Log]:
        return [log for directory in self.online for log in directory.logs.values()]

    def get(self, partition: TopicPartition) -> Log | None:
        """The log; None if there is none here, StorageUnavailable if its directory failed."""
        directory = self._places.get(partition)
        if directory is None:
            return None
        directory.health.check()
        return directory.logs[partition]

    def get_future(self, partition: TopicPartition) -> Log | None:
        directory = self._future_places.get(partition)
        if directory is None:
            return None
        directory.health.check()
        return directory.future_logs[partition]

    def is_out_of_reach(self, partition: TopicPartition) -> bool:
        """There is no log of it, and there may be one where nobody can look at it."""
        return partition not in self._places and (
            len(self.online) < len(self.directories)
            or any(partition in each.unreadable for each in self.directories)
        )

    def directory_of(self, partition: TopicPartition) -> LogDirectory | None:
        return self._places.get(partition)

    def future_directory_of(self, partition: TopicPartition) -> LogDirectory | None:
        return self._future_places.get(partition)

    def future_partitions(self) -> list[TopicPartition]:
        """Those that are on their way to another directory."""
        return list(self._future_places)

    def find_strays(self, is_known: Callable[[Log], bool]) -> list[Log]:
        """Logs on disk that the metadata does not place here, by name or by topic id."""
        return [log for log in self.logs if not is_known(log)]

    # Creating and deleting

    def create(
        self,
        partition: TopicPartition,
        config: TopicConfig,
        topic_id: TopicId | None = None,
        *,
        directory: LogDirectory | None = None,
    ) -> Log:
        """An empty log, in the directory given or in the one with the fewest logs."""
        if partition in self._places:
            raise StorageError(f"{partition} has a log already")
        for each in self.online:  # the new log may be in another directory than an older one was
            each.free_name(partition)
        place = directory or self._least_used()
        log = place.create(partition, config, topic_id)
        self._places[partition] = place
        return log

    def create_future(
        self, partition: TopicPartition, config: TopicConfig, directory: LogDirectory
    ) -> Log:
        """A second log of a partition, in another directory, that is to replace the first."""
        current = self.get(partition)
        if current is None or directory is self._places[partition]:
            raise BrokerError(ErrorCode.LOG_DIR_NOT_FOUND, f"{partition} cannot move there")
        log = directory.create(partition, config, current.topic_id, is_future=True)
        self._future_places[partition] = directory
        return log

    def promote_future(self, partition: TopicPartition) -> Log:
        """The future log has caught up: it becomes the current one, and the old one goes, for
        good once `finishing_deletion` ran."""
        old_place, new_place = self._places[partition], self._future_places[partition]
        old_place.make_way(old_place.logs[partition])
        self._places[partition] = self._future_places.pop(partition)  # even if that fails now
        return new_place.promote_future(partition)

    def drop_future(self, partition: TopicPartition) -> None:
        """The partition stays where it is. StorageUnavailable, and nothing dropped, where its
        current log is out of reach: the future one may be all that is left of it."""
        directory = self._future_places.get(partition)
        if directory is not None:
            if self.get(partition) is None:
                raise StorageUnavailable(f"{partition} has no log but its future one")
            del self._future_places[partition]
            directory.delete([directory.future_logs[partition]])

    def delete(self, partitions: Iterable[TopicPartition]) -> None:
        """Delete logs, future ones included; what is in a failed directory stays where it is.

        A directory that fails while it is asked keeps none of the others from being asked.
        """
        self._delete(partitions, LogDirectory.delete)

    def begin_deleting(self, partitions: Iterable[TopicPartition]) -> None:
        """As `delete`, to be finished by `finishing_deletion`."""
        self._delete(partitions, LogDirectory.begin_deleting)

    def finishing_deletion(self) -> Steps[None]:
        for directory in self.online:
            yield from directory.finishing_deletion()

    def _delete(
        self,
        partitions: Iterable[TopicPartition],
        delete: Callable[[LogDirectory, list[Log]], None],
    ) -> None:
        doomed = set(partitions)
        failure: Exception | None = None
        for directory in self.online:
            logs = directory.logs_of(doomed)
            try:
                if logs:
                    delete(directory, logs)
            except (StorageError, OSError) as error:
                failure = failure or error
        for partition in doomed:
            self._places.pop(partition, None)
            self._future_places.pop(partition, None)
        if failure is not None:
            raise failure

    def is_half_deleted(self, partition: TopicPartition) -> bool:
        return any(each.is_half_deleted(partition) for each in self.directories)

    @property
    def is_deleting(self) -> bool:
        """There is something to do for `finishing_deletion`."""
        return any(each.is_deleting for each in self.directories)

    def set_aside_strays(self, logs: Iterable[Log]) -> None:
        """A directory that fails meanwhile is left out; the last one that is left may not."""
        strays: dict[LogDirectory, list[Log]] = {}
        for log in logs:
            strays.setdefault(self._places.pop(log.partition), []).append(log)
        for directory, found in strays.items():
            try:
                directory.set_aside_strays(found)
            except StorageUnavailable as error:
                logger.error("logs that belong to nobody are where they were: %s", error)
        self._require_one()

    def _least_used(self) -> LogDirectory:
        self._require_one()
        return min(self.online, key=lambda each: len(each.logs) + len(each.future_logs))

    # What the broker does now and then

    def due_flushes(self) -> list[Log]:
        """Logs to be synced because of flush.ms."""
        now_ms = self._clock.now_ms()
        return [log for log in self.logs if is_flush_due(log, now_ms)]

    def checkpoint_jobs(self) -> list[tuple[LogDirectory, CheckpointJob]]:
        return [(each, each.checkpoint_job()) for each in self.online if each.is_loaded]

    def due_removals(self) -> list[tuple[LogDirectory, Removal]]:
        """Files whose time is over, to be removed in a thread."""
        now_ms = self._clock.now_ms()
        return [
            (directory, removal)
            for directory in self.online
            for removal in directory.context.deletions.take_due(now_ms)
        ]

    # Failing

    def _directory_failed(self, path: str) -> None:
        directory = next(each for each in self.directories if each.path == path)
        lost = [partition for partition, at in self._places.items() if at is directory]
        for partition in [each for each, at in self._future_places.items() if at is directory]:
            del self._future_places[partition]  # its current log is elsewhere, and goes on
        self.on_failure(directory, sorted(lost))
        if not self.online:
            self.on_last_failure()

    def _require_one(self) -> None:
        if not self.online:
            raise StorageUnavailable("no log directory is left")
