"""All logs of a broker, over all its log directories.

Owns      which directory holds which partition, and where the next one goes.
Promises  a directory that fails takes its partitions with it and nothing else: they answer
          KAFKA_STORAGE_ERROR, those of other directories go on. A log is deleted only for a
          reason (`deletion_reasons.py`): one that is merely not in the metadata is set aside and
          reported, and taken back when its topic, by id, is in the metadata again. A partition
          whose log was lost is out of reach, and is not begun anew.
Leaves    when to check retention, write checkpoints, sync and delete to the broker, which calls
          these methods and runs the jobs they return.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from functools import partial
from random import Random

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import WAIT
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Start, Steps, run_blocking
from ottla.base.topic_deletion import TopicDeletion
from ottla.base.uuids import uuid_to_text
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.directories.deletion_reasons import CopyRemains, Doomed
from ottla.storage.directories.directory_checkpoints import CheckpointJob
from ottla.storage.directories.directory_loading import (
    ConfigOf,
    IsPlaced,
    LoadStep,
    everything,
    load_logs,
)
from ottla.storage.directories.failure_listener import FailureListener
from ottla.storage.directories.log_directory import (
    LogDirectory,
    Owner,
    RunAll,
    WrongDirectory,
    run_in_order,
)
from ottla.storage.directories.set_aside import SetAside
from ottla.storage.errors import StorageError
from ottla.storage.files.cluster_mark import ClusterMark
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import DirectoryMark
from ottla.storage.log.deletion import Removal
from ottla.storage.log.flushing import is_flush_due
from ottla.storage.log.log import Log
from ottla.storage.log.log_listener import LogListener
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound

logger = logging.getLogger(__name__)

DeletionOf = Callable[[TopicId], TopicDeletion | None]


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
        self._listener = listener
        self._failure_listeners: list[FailureListener] = []
        self.missing_ids: frozenset[bytes] = frozenset()  # of directories that were here before
        self._clock = clock
        self._places: dict[TopicPartition, LogDirectory] = {}
        self._future_places: dict[TopicPartition, LogDirectory] = {}
        self._duplicates: set[TopicPartition] = set()  # found in several directories
        self.directories = [
            LogDirectory(
                files, clock, random, path, listener, self._directory_failed,
                start=start, producers=producers,
            )
            for path in paths
        ]  # fmt: skip

    def subscribe(self, listener: FailureListener) -> None:
        self._failure_listeners.append(listener)

    def unsubscribe(self, listener: FailureListener) -> None:
        self._failure_listeners.remove(listener)

    def verify_transactions(self, is_enabled: bool) -> None:
        """Whether logs refuse transactional records that no coordinator has verified (KIP-890)."""
        for directory in self.directories:
            directory.context.verify_transactions(is_enabled)

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

    def load(self, config_of: ConfigOf, is_placed: IsPlaced = everything) -> Iterator[LoadStep]:
        """Open all logs that are placed here, one a step. `settle_duplicates` comes next."""
        for directory in self.online:
            yield from load_logs(directory, config_of, is_placed)
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

    def expect_directories(self, ids: Iterable[bytes]) -> None:
        """These belong to the broker. While one is missing, a partition without a log is out of
        reach: its log may be there."""
        present = {each.directory_id for each in self.online}
        self.missing_ids = frozenset(ids) - present

    def settle_missing(self, lost: Collection[tuple[str, int]]) -> None:
        """All partitions were placed, and these have no log. If there are none, nothing is in the
        directories that are missing, and they are expected no more."""
        is_used = [each for each in self.directories if not each.is_withheld]
        if not self.missing_ids or any(not each.health.is_online for each in is_used):
            return
        if not lost:
            self.missing_ids = frozenset()
            return
        logger.error(
            "log directories of this broker are missing (directory.id %s), and %d partitions have "
            "no log: they are offline, and nothing was begun anew. Restore the directories and "
            "start again, or delete the topics (docs/guides/recovering.md)",
            ", ".join(sorted(map(uuid_to_text, self.missing_ids))),
            len(lost),
        )

    @property
    def expected_ids(self) -> tuple[bytes, ...]:
        present = {each.directory_id for each in self.directories if each.directory_id is not None}
        return tuple(sorted(present | self.missing_ids))

    def mark_jobs(
        self, cluster_id: str, offset: int, controller_epoch: int
    ) -> list[tuple[LogDirectory, Callable[[], None]]]:
        """What to write down of the metadata, in a thread."""
        ids = self.expected_ids
        return [
            (each, partial(each.write_mark, mark))
            for each in self.online
            if each.directory_id is not None
            for mark in [ClusterMark(cluster_id, offset, controller_epoch, each.directory_id, ids)]
        ]

    def settle_duplicates(self, deletion_of: DeletionOf) -> None:
        """Of several logs of a partition, those of deleted topics go. StorageError for the rest.

        A directory that was away while its topic was deleted comes back with the log; by then
        another one may hold a new log of that name, and this one may be on its way there.
        """
        contested = self._duplicates | self._future_places.keys()
        if not contested:
            return
        for directory in self.online:
            self._delete_left_over(directory, contested, deletion_of)
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
        deletion_of: DeletionOf,
    ) -> None:
        doomed = [
            Doomed(log, reason)
            for log in directory.logs_of(partitions)
            if (reason := deletion_of_log(log, deletion_of)) is not None
        ]
        for log, _ in doomed:
            logger.info("%s is of a topic that was deleted, and is deleted now", log.path)
        try:
            if doomed:
                directory.delete(doomed)
        except StorageUnavailable as error:
            logger.error("deleted topics are still on disk: %s", error)

    def _finish_moves(self) -> None:
        """A future log without a current one has caught up: the old one went before the crash.

        It has not if the current one was lost, or is set aside and may be taken back.
        """
        for partition, directory in list(self._future_places.items()):
            if self._has_made_way(partition, directory.future_logs[partition]):
                try:
                    directory.promote_future(partition)
                except StorageUnavailable as error:
                    logger.error("%s has no log until the next start: %s", partition, error)
                else:
                    self._places[partition] = self._future_places.pop(partition)

    def _has_made_way(self, partition: TopicPartition, future: Log) -> bool:
        topic_id = known_topic_id(future)
        if partition in self._places or self.is_out_of_reach(partition, topic_id):
            return False
        return not any(
            each.mark is DirectoryMark.STRAY
            for directory in self.online
            for each in directory.set_aside.of(topic_id, partition.partition)
        )

    def close(self, broker_epoch: int = -1, run_all: RunAll = run_in_order) -> None:
        for directory in self.directories:
            directory.close(broker_epoch, run_all)

    def let_go(self) -> None:
        """Close all files as they are, and unlock the directories."""
        for directory in self.directories:
            directory.let_go()

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

    def is_out_of_reach(self, partition: TopicPartition, topic_id: TopicId | None = None) -> bool:
        """There is no log of it, and there was one, or may be one where nobody can look at it.

        One of this topic that was set aside, with what checkpoints say of it, is in reach.
        """
        return partition not in self._places and (
            len(self.online) < len(self.directories)
            or bool(self.missing_ids)
            or any(partition in each.unreadable for each in self.directories)
            or any(each.has_lost(partition, topic_id) for each in self.directories)
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
            each.drop_lost(partition)
            each.free_name(partition)
        half_made = next((each for each in self.online if each.has_half_made(partition)), None)
        place = half_made or directory or self._least_used()
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
        log = directory.create(partition, config, current.topic_id.load(WAIT), is_future=True)
        self._future_places[partition] = directory
        return log

    def promote_future(self, partition: TopicPartition) -> Log:
        """The future log has caught up: it becomes the current one, and the old one goes, for
        good once `finishing_deletion` ran."""
        old_place, new_place = self._places[partition], self._future_places[partition]
        reason = CopyRemains(new_place.future_logs[partition])
        old_place.make_way(Doomed(old_place.logs[partition], reason))
        self._places[partition] = self._future_places.pop(partition)  # even if that fails now
        return new_place.promote_future(partition)

    def drop_future(self, partition: TopicPartition) -> None:
        """The partition stays where it is. StorageUnavailable, and nothing dropped, where its
        current log is out of reach: the future one may be all that is left of it."""
        directory = self._future_places.get(partition)
        if directory is not None:
            if (current := self.get(partition)) is None:
                raise StorageUnavailable(f"{partition} has no log but its future one")
            del self._future_places[partition]
            directory.delete([Doomed(directory.future_logs[partition], CopyRemains(current))])

    def delete(self, partitions: Mapping[TopicPartition, TopicDeletion]) -> None:
        """Delete logs, future ones included; what is in a failed directory stays where it is.

        A directory that fails while it is asked keeps none of the others from being asked.
        """
        self._delete(partitions, LogDirectory.delete)

    def begin_deleting(self, partitions: Mapping[TopicPartition, TopicDeletion]) -> None:
        """As `delete`, to be finished by `finishing_deletion`."""
        self._delete(partitions, LogDirectory.begin_deleting)

    def finishing_deletion(self) -> Steps[None]:
        for directory in self.online:
            yield from directory.finishing_deletion()

    def _delete(
        self,
        partitions: Mapping[TopicPartition, TopicDeletion],
        delete: Callable[[LogDirectory, list[Doomed]], None],
    ) -> None:
        failure: Exception | None = None
        for directory in self.online:
            doomed = [
                Doomed(log, partitions[log.partition]) for log in directory.logs_of(partitions)
            ]
            for partition in partitions:  # one whose files were lost is expected no more
                directory.drop_lost(partition)
            try:
                if doomed:
                    delete(directory, doomed)
            except (StorageError, OSError) as error:
                failure = failure or error
        for partition in partitions:
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

    def take_back(
        self, partition: TopicPartition, topic_id: TopicId, config: TopicConfig
    ) -> Log | None:
        """Put a log that was set aside into service again; None where there is none of the topic.

        Not while another log of the partition may be where nobody can look at it.
        """
        if self.is_out_of_reach(partition, topic_id):
            return None
        found = [
            (each.mark is DirectoryMark.DELETE, number, directory, each)
            for number, directory in enumerate(self.online)
            for each in directory.set_aside.of(topic_id, partition.partition)
        ]
        if not found:
            return None
        *_, directory, chosen = min(found, key=lambda each: each[:2])
        log = directory.take_back(chosen, partition, config)
        self._places[partition] = directory
        return log

    def settle_found(
        self, deletion_of: DeletionOf, is_placed: Callable[[TopicId, int], bool]
    ) -> None:
        """Decide about directories that a start has found and not opened, before logs are made.

        A `-delete` one of a partition that `is_placed` here and has no log stays: `take_back`
        finds it. So does a future log, which is nothing without its current one.
        """
        served: set[tuple[TopicId | None, int]] | None = None
        for directory in self.online:
            kept: list[SetAside] = []
            for each in directory.set_aside:
                if each.mark is DirectoryMark.STRAY:
                    continue
                served = served or {
                    (known_topic_id(log), log.partition.partition) for log in self.logs
                }
                try:
                    if not self._delete_found(directory, each, deletion_of, served) and (
                        each.mark is not DirectoryMark.FUTURE and not is_taken_back(each, is_placed)
                    ):
                        kept.append(each)
                except (StorageUnavailable, OSError) as error:
                    logger.error("%s is left as it is: %s", each.path, error)
            self._keep(directory, kept)

    @staticmethod
    def _delete_found(
        directory: LogDirectory,
        found: SetAside,
        deletion_of: DeletionOf,
        served: Container[tuple[TopicId | None, int]],
    ) -> bool:
        """Whether it goes: the topic was deleted; or it was on its way to be deleted, and another
        log of the partition is in use, or nothing is left of it."""
        is_begun = found.mark is DirectoryMark.DELETE
        deletion = None if found.topic_id is None else deletion_of(found.topic_id)
        if deletion is not None and not is_begun:
            directory.delete_found(found, deletion)
            return True
        key = (found.topic_id, found.partition.partition)
        if found.topic_id is None:
            is_deleted = is_begun and not directory.has_records(found)
        else:
            is_deleted = is_begun and (deletion is not None or key in served)
        if is_deleted:
            directory.resume_deletion(found)
        return is_deleted

    @staticmethod
    def _keep(directory: LogDirectory, kept: list[SetAside]) -> None:
        try:
            if kept:
                directory.keep(kept)
        except StorageUnavailable as error:
            logger.error("logs that belong to nobody are where they were: %s", error)

    def finish_taking_back(self) -> None:
        for directory in self.online:
            directory.finish_taking_back()

    def lose(self, log: Log, why: OSError) -> None:
        """Somebody else removed or replaced the files of a log: it is offline from here on."""
        partition = log.partition
        directory = self._directory_of(log)
        if log.is_gone or not directory.health.is_online:
            return
        logger.error("%s is offline: %s", partition, why)
        is_current = directory.logs.get(partition) is log
        directory.lose(log)
        if is_current:
            self._places.pop(partition, None)
            for listener in self._failure_listeners:
                listener.log_lost(partition)
        else:
            self._future_places.pop(partition, None)

    def _directory_of(self, log: Log) -> LogDirectory:
        return next(each for each in self.directories if each.context is log.context)

    def _least_used(self) -> LogDirectory:
        self._require_one()
        return min(self.online, key=lambda each: len(each.logs) + len(each.future_logs))

    # What the broker does now and then

    def due_flushes(self) -> list[Log]:
        """Logs to be synced because of flush.ms."""
        now_ms = self._clock.now_ms()
        return [log for log in self.logs if is_flush_due(log, now_ms)]

    def checkpoint_jobs(self) -> list[tuple[LogDirectory, Steps[CheckpointJob]]]:
        """To be made one after the other, and run in a thread."""
        return [(each, each.making_checkpoint_job()) for each in self.online if each.is_loaded]

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
        for listener in self._failure_listeners:
            listener.directory_failed(sorted(lost))
        if not self.online:
            self._listener.storage_failed()

    def _require_one(self) -> None:
        if not self.online:
            raise StorageUnavailable("no log directory is left")


def is_taken_back(found: SetAside, is_placed: Callable[[TopicId, int], bool]) -> bool:
    """Whether it is the log of a partition, which nobody has opened because it was renamed."""
    return found.topic_id is not None and is_placed(found.topic_id, found.partition.partition)


def known_topic_id(log: Log) -> TopicId | None:
    """None also where nobody can tell whose records these are."""
    try:
        return log.topic_id.load(WAIT)
    except StorageError:
        return None


def deletion_of_log(log: Log, deletion_of: DeletionOf) -> TopicDeletion | None:
    topic_id = known_topic_id(log)
    return None if topic_id is None else deletion_of(topic_id)
