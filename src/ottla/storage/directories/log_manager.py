"""All logs of a broker, over all its log directories.

Owns      which directory has which partition, and where a new log is created.
Promises  a directory that fails takes its own partitions offline and no others: they answer
          KAFKA_STORAGE_ERROR. A log is deleted only for a reason (`deletion_reasons.py`): one that
          is merely not in the metadata is set aside and reported, and taken back when its topic, by
          id, is in the metadata again. A partition whose log was lost is out of reach: no new log
          is created for it.
Leaves    what a start finds besides usable logs to `startup_settlement.py`; moving logs between
          directories to `log_moves.py`; when to check
          retention, write checkpoints, sync and delete to the broker, which runs the jobs that
          these methods return.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Start, Steps, run_blocking
from ottla.base.topic_deletion import DeletionEvidence
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.deletion_reasons import LogDeletion
from ottla.storage.directories.directory_checkpoints import CheckpointJob
from ottla.storage.directories.directory_deletions import DirectoryDeletions
from ottla.storage.directories.directory_loading import (
    ConfigOf,
    IsPlaced,
    LoadStep,
    everything,
    load_logs,
)
from ottla.storage.directories.directory_ownership import Owner, WrongDirectory
from ottla.storage.directories.expected_directories import ExpectedDirectories
from ottla.storage.directories.failure_listener import FailureListener
from ottla.storage.directories.log_directory import LogDirectory, RunAll, run_in_order
from ottla.storage.directories.log_locations import LogLocations
from ottla.storage.directories.log_moves import LogMoves
from ottla.storage.errors import StorageError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import DirectoryMark
from ottla.storage.log.deletion import Removal
from ottla.storage.log.flushing import is_flush_due
from ottla.storage.log.log import Log
from ottla.storage.log.log_listener import LogListener
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound

logger = logging.getLogger(__name__)


class LogManager:
    def __init__(
        self,
        files: FileSystem,
        clock: Clock,
        random: Random,
        paths: Iterable[str],
        listener: LogListener,
        *,
        start: Start = run_blocking,
        producers: ProducerBound = UNBOUNDED,
    ) -> None:
        self.locations = LogLocations()
        self.directories = [
            LogDirectory(
                files, clock, random, path, listener, self._directory_failed,
                start=start, producers=producers,
            )
            for path in paths
        ]  # fmt: skip
        self.expected = ExpectedDirectories(self.directories)
        self.moves = LogMoves(self)
        self._clock = clock
        self._listener = listener
        self._failure_listeners: list[FailureListener] = []

    # Starting and stopping

    def take(self) -> None:
        """Lock all directories, so that no other process uses them.

        One that fails goes offline. StorageUnavailable if none is left.
        """
        for directory in self.online:
            try:
                directory.ownership.take()
            except OSError as error:
                directory.health.failed("opening", error)
        self._require_one()

    def open(self, owner: Owner) -> None:
        """Take all directories, and check that they belong to `owner`."""
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

    def load(self, config_of: ConfigOf, is_placed: IsPlaced = everything) -> Iterator[LoadStep]:
        """Open all logs that are placed here, one a step. `settle_duplicates` comes next."""
        for directory in self.online:
            yield from load_logs(directory, config_of, is_placed)
        self.locations.find(self.online)
        self.moves.finish_interrupted()
        self._require_one()

    def close(self, broker_epoch: int = -1, run_all: RunAll = run_in_order) -> None:
        for directory in self.directories:
            directory.close(broker_epoch, run_all)

    def release(self) -> None:
        """Close all files as they are, and unlock the directories."""
        for directory in self.directories:
            directory.release()

    @property
    def had_clean_shutdown(self) -> bool:
        return all(directory.last_shutdown is not None for directory in self.directories)

    def verify_transactions(self, is_enabled: bool) -> None:
        """Whether logs refuse transactional records that no coordinator has verified (KIP-890)."""
        for directory in self.directories:
            directory.context.verify_transactions(is_enabled)

    # Finding

    @property
    def online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if directory.health.is_online]

    @property
    def logs(self) -> list[Log]:
        return [log for directory in self.online for log in directory.logs.values()]

    def get(self, partition: TopicPartition) -> Log | None:
        """The log; None if there is none here, StorageUnavailable if its directory failed."""
        directory = self.locations.current.get(partition)
        if directory is None:
            return None
        directory.health.check()
        return directory.logs[partition]

    def is_out_of_reach(self, partition: TopicPartition, topic_id: TopicId | None = None) -> bool:
        """Whether it has no log, and had one, or may have one that cannot be read.

        A log of this topic that is set aside, with its checkpoints, is in reach.
        """
        return partition not in self.locations.current and (
            len(self.online) < len(self.directories)
            or self.expected.has_missing
            or any(partition in each.table.unreadable for each in self.directories)
            or any(each.has_lost(partition, topic_id) for each in self.directories)
        )

    def is_replaced(self, partition: TopicPartition, topic_id: TopicId | None = None) -> bool:
        """Whether it has no log only because a directory was replaced: all that are configured
        work, and one that had belonged to this broker is not among them."""
        return (
            self.is_out_of_reach(partition, topic_id)
            and len(self.online) == len(self.directories)
            and not any(partition in each.table.unreadable for each in self.directories)
            and not any(each.has_lost(partition, topic_id) for each in self.directories)
        )

    def is_missing(self, partition: TopicPartition) -> bool:
        """Whether it has no log, and all directories that it may have been in can be read."""
        return (
            partition not in self.locations.current
            and len(self.online) == len(self.directories)
            and not self.expected.has_missing
            and not any(partition in each.table.unreadable for each in self.directories)
        )

    def directory_of(self, partition: TopicPartition) -> LogDirectory | None:
        return self.locations.current.get(partition)

    def find_strays(self, is_known: Callable[[Log], bool]) -> list[Log]:
        """Logs on disk that the metadata does not place here, by name or by topic id."""
        return [log for log in self.logs if not is_known(log)]

    # Creating

    def create(
        self,
        partition: TopicPartition,
        config: TopicConfig,
        topic_id: TopicId | None = None,
        *,
        directory: LogDirectory | None = None,
    ) -> Log:
        """An empty log, in the directory given or in the one with the fewest logs."""
        if partition in self.locations.current:
            raise StorageError(f"{partition} has a log already")
        for each in self.online:  # an older log of this name may have been in any of them
            each.deletions.drop_lost(partition)
            each.deletions.free_name(partition)
        in_part = next((each for each in self.online if each.has_created_in_part(partition)), None)
        chosen = in_part or directory or self._least_used()
        log = chosen.create(partition, config, topic_id)
        self.locations.current[partition] = chosen
        return log

    def _least_used(self) -> LogDirectory:
        self._require_one()
        return min(self.online, key=lambda each: len(each.table.every()))

    # Deleting

    def delete(self, partitions: Mapping[TopicPartition, DeletionEvidence]) -> None:
        """Delete logs, future ones included. Those of a failed directory stay, and the others are
        deleted."""
        self._delete(partitions, DirectoryDeletions.delete)

    def begin_deleting(self, partitions: Mapping[TopicPartition, DeletionEvidence]) -> None:
        """As `delete`, to be finished by `finishing_deletion`."""
        self._delete(partitions, DirectoryDeletions.begin)

    def finishing_deletion(self) -> Steps[None]:
        for directory in self.online:
            yield from directory.deletions.finishing()

    def _delete(
        self,
        partitions: Mapping[TopicPartition, DeletionEvidence],
        delete: Callable[[DirectoryDeletions, list[LogDeletion]], None],
    ) -> None:
        failure: Exception | None = None
        for directory in self.online:
            deletions = [
                LogDeletion(log, partitions[log.partition])
                for log in directory.table.of(partitions)
            ]
            for partition in partitions:  # lost files are not expected any more
                directory.deletions.drop_lost(partition)
            try:
                if deletions:
                    delete(directory.deletions, deletions)
            except (StorageError, OSError) as error:
                failure = failure or error
        for partition in partitions:
            self.locations.remove(partition)
        if failure is not None:
            raise failure

    def is_half_deleted(self, partition: TopicPartition) -> bool:
        """Whether the deletion of a log of this name is not durable yet."""
        return any(each.deletions.is_pending_for(partition) for each in self.directories)

    @property
    def is_deleting(self) -> bool:
        """Whether `finishing_deletion` has something to do."""
        return any(each.deletions.is_pending for each in self.directories)

    # Setting aside and taking back

    def set_aside_strays(self, logs: Iterable[Log]) -> None:
        """A directory that fails is left out. StorageUnavailable if none is left."""
        strays: dict[LogDirectory, list[Log]] = {}
        for log in logs:
            strays.setdefault(self.locations.current.pop(log.partition), []).append(log)
        for directory, found in strays.items():
            try:
                directory.strays.set_aside(found)
            except StorageUnavailable as error:
                logger.error("logs that the metadata does not place here remain: %s", error)
        self._require_one()

    def take_back(
        self, partition: TopicPartition, topic_id: TopicId, config: TopicConfig
    ) -> Log | None:
        """Use a log again that was set aside; None if there is none of the topic, or another log of
        the partition may be where it cannot be read."""
        if self.is_out_of_reach(partition, topic_id):
            return None
        found = [
            (each.mark is DirectoryMark.DELETE, number, directory, each)
            for number, directory in enumerate(self.online)
            for each in directory.strays.table.of(topic_id, partition.partition)
        ]
        if not found:
            return None
        *_, directory, chosen = min(found, key=lambda each: each[:2])
        log = directory.strays.take_back(chosen, partition, config)
        self.locations.current[partition] = directory
        return log

    def finish_taking_back(self) -> None:
        for directory in self.online:
            directory.strays.finish_taking_back()

    # Regular work of the broker

    def due_flushes(self, logs: Iterable[Log]) -> list[Log]:
        """The logs to sync because of flush.ms."""
        now_ms = self._clock.now_ms()
        return [log for log in logs if is_flush_due(log, now_ms)]

    def checkpoint_jobs(self) -> list[tuple[LogDirectory, Steps[CheckpointJob]]]:
        """Writes of checkpoints: make them one after the other, and run each in a thread."""
        return [
            (each, each.table.making_checkpoint_job()) for each in self.online if each.is_loaded
        ]

    def due_removals(self) -> list[tuple[LogDirectory, Removal]]:
        """Files out of use whose delay has ended, to be removed in a thread: some of them, until
        there are none."""
        now_ms = self._clock.now_ms()
        return [
            (directory, removal)
            for directory in self.online
            for removal in directory.context.deletions.take_due(now_ms)
        ]

    # Failures

    def subscribe(self, listener: FailureListener) -> None:
        self._failure_listeners.append(listener)

    def unsubscribe(self, listener: FailureListener) -> None:
        """Nothing happens if it is not subscribed: a broker may be closed twice."""
        if listener in self._failure_listeners:
            self._failure_listeners.remove(listener)

    def lose(self, log: Log, why: OSError) -> None:
        """Another process removed or replaced the files of a log: it is offline from now on."""
        partition = log.partition
        directory = next(each for each in self.directories if each.context is log.context)
        if log.is_discarded or not directory.health.is_online:
            return
        logger.error("%s is offline: %s", partition, why)
        is_current = directory.logs.get(partition) is log
        directory.table.lose(log)
        if is_current:
            self.locations.current.pop(partition, None)
            for listener in self._failure_listeners:
                listener.log_lost(partition)
        else:
            self.locations.future.pop(partition, None)

    def _directory_failed(self, path: str) -> None:
        directory = next(each for each in self.directories if each.path == path)
        lost = self.locations.directory_failed(directory)
        for listener in self._failure_listeners:
            listener.directory_failed(lost)
        if not self.online:
            self._listener.storage_failed()

    def _require_one(self) -> None:
        if not self.online:
            raise StorageUnavailable("no log directory is left")
