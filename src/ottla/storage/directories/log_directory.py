"""One log directory: whose it is, its lock, its checkpoints, the logs in it.

Owns      the directory while the broker runs (`.lock`), `meta.properties`, `ottla.properties`, the
          clean-shutdown marker, and which partition directory holds what.
Promises  a directory that belongs to another broker or cluster is not touched. The marker is
          written only when every log was opened and closed in order. Files of a partition are
          deleted for one of the reasons in `deletion_reasons.py`, and set aside otherwise. Nothing
          is written to a directory that has taken the place of this one.
Leaves    finding the logs at start to `directory_loading.py`, choosing among directories to
          `log_manager.py`.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileLock, FileSystem, HeldDirectory, make_durable_directory
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Job, Start, Steps, run_blocking
from ottla.base.topic_deletion import TopicDeletion
from ottla.base.uuids import random_uuid
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.deletion_reasons import Doomed, fault_of
from ottla.storage.directories.directory_checkpoints import CheckpointJob, DirectoryCheckpoints
from ottla.storage.directories.set_aside import (
    SetAside,
    SetAsideTable,
    has_records,
    look_at,
    read_offsets,
    remove_offsets,
    write_offsets,
)
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.clean_shutdown import CleanShutdown, write_clean_shutdown
from ottla.storage.files.cluster_mark import ClusterMark, read_cluster_mark, write_cluster_mark
from ottla.storage.files.directory_health import DirectoryHealth, StorageUnavailable
from ottla.storage.files.file_names import (
    CLEAN_SHUTDOWN_NAME,
    CLUSTER_MARK_NAME,
    LOCK_NAME,
    META_PROPERTIES_NAME,
    NAME_CHARACTERS_MAX,
    DirectoryMark,
    marked_directory_name,
    partition_directory_name,
)
from ottla.storage.files.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.storage.log.deletion import Removal
from ottla.storage.log.log import Log
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.log_listener import LogListener
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound

logger = logging.getLogger(__name__)


class Owner(NamedTuple):
    """Who may use a directory."""

    cluster_id: str
    node_id: int


class WrongDirectory(StorageError):
    """The directory is another broker's, or is used by another process."""


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
        self.health = DirectoryHealth(path, on_failure)
        self.checkpoints = DirectoryCheckpoints(files, path)
        self.context = LogContext(
            files, clock, random, self.health, listener, self, start, producers
        )
        self.directory_id: bytes | None = None
        self.last_shutdown: CleanShutdown | None = None  # None after an unclean stop
        self.logs: dict[TopicPartition, Log] = {}
        self.future_logs: dict[TopicPartition, Log] = {}
        self.set_aside = SetAsideTable()  # partition directories that are out of use
        self.taken_back: list[str] = []  # paths of logs whose offsets no checkpoint has yet
        self.lost_logs: list[Log] = []  # whose files somebody else removed while they were in use
        self.unreadable: dict[TopicPartition, StorageError] = {}
        self.is_loaded = False
        self.is_withheld = False  # empty, and not used while another one is missing
        self._lock: FileLock | None = None
        self._held: HeldDirectory | None = None
        self._half_made: set[str] = set()  # partition directories, by this process
        self._half_deleted: dict[TopicPartition, str] = {}  # out of the way, not yet for good

    def __repr__(self) -> str:
        return f"LogDirectory({self.path!r}, {len(self.logs)} logs)"

    @property
    def strays(self) -> list[str]:
        """Paths of partition directories that are set aside."""
        return [each.path for each in self.set_aside if each.mark is DirectoryMark.STRAY]

    def take(self) -> None:
        """Lock the directory, which is made if it does not exist. WrongDirectory, or OSError."""
        if self._lock is not None:
            return
        make_durable_directory(self.files, self.path)
        try:
            self._lock = self.files.lock(f"{self.path}/{LOCK_NAME}")
            self._held = self.files.hold_directory(self.path)
        except BlockingIOError as error:
            raise WrongDirectory(f"{self.path} is in use: {error}") from error

    def is_empty(self) -> bool:
        """Nobody has used it, or it is the place where a disk should be mounted."""
        return set(self.files.list_directory(self.path)) <= {LOCK_NAME, "lost+found"}

    def withhold(self, why: str) -> None:
        self.is_withheld = True
        self.health.failed("opening", OSError(errno.ENOENT, why, self.path))

    def check_in_place(self) -> None:
        """OSError if the directory was removed, renamed, replaced, mounted over or emptied. May run
        in any thread."""
        if self._held is None:
            return
        if not self._held.is_in_place():
            what = "the directory was removed, replaced or unmounted while it was in use"
            raise OSError(errno.ESTALE, what, self.path)
        names = (LOCK_NAME, META_PROPERTIES_NAME)
        if not any(self.files.exists(f"{self.path}/{name}") for name in names):
            raise OSError(errno.ESTALE, "the directory was emptied while it was in use", self.path)

    def open(self, owner: Owner) -> None:
        """Take the directory, and check whose it is."""
        self.take()
        try:
            self._check_owner(owner)
        except BaseException:
            self._unlock()
            raise

    def _check_owner(self, owner: Owner) -> None:
        path = f"{self.path}/{META_PROPERTIES_NAME}"
        found = read_meta_properties(self.files, path)
        if found is not None and found.cluster_id not in (None, owner.cluster_id):
            raise WrongDirectory(f"{path}: belongs to cluster {found.cluster_id}")
        if found is not None and found.node_id not in (None, owner.node_id):
            raise WrongDirectory(f"{path}: belongs to node {found.node_id}")
        directory_id = None if found is None else found.directory_id
        if directory_id is None and (mark := self.read_mark()) is not None:
            logger.warning("%s: the directory id is taken from %s", path, CLUSTER_MARK_NAME)
            directory_id = mark.directory_id
        if found is None or found.version == 0 or directory_id is None:
            directory_id = directory_id or random_uuid()
            properties = MetaProperties(owner.cluster_id, owner.node_id, directory_id)
            write_meta_properties(self.files, path, properties)
        self.directory_id = directory_id

    def read_mark(self) -> ClusterMark | None:
        """What the directory has seen of its cluster; None where nobody can tell."""
        try:
            return read_cluster_mark(self.files, f"{self.path}/{CLUSTER_MARK_NAME}")
        except CorruptLogError as error:
            logger.error("a damaged file is written anew: %s", error)
            return None

    def write_mark(self, mark: ClusterMark) -> None:
        """May run in any thread."""
        self.check_in_place()
        write_cluster_mark(self.files, f"{self.path}/{CLUSTER_MARK_NAME}", mark)

    # Logs

    def create(
        self,
        partition: TopicPartition,
        config: TopicConfig,
        topic_id: TopicId | None,
        *,
        is_future: bool = False,
    ) -> Log:
        """An empty log. StorageError if there is something by that name already.

        It is on disk for good with its first sync, before the first record is: until then the
        cluster's metadata is enough to make it again.
        """
        self.health.check()
        self.free_name(partition)
        name = partition_directory_name(partition)
        if is_future:
            name = marked_directory_name(partition, DirectoryMark.FUTURE, unique_id())
        path = f"{self.path}/{name}"
        try:
            if path not in self._half_made and self.files.exists(path):
                raise StorageError(f"{path} exists, though no log of that name is known")
            self.check_in_place()  # a directory that was removed is not made anew
            self.files.make_directory(path)
            self._half_made.add(path)
            log = open_log(self.context, partition, path, config, Checkpoint())
            if topic_id is not None:
                log.topic_id.write_unsynced(topic_id)
        except OSError as error:
            raise self.health.refused(f"creating {path}", error) from error
        self._half_made.discard(path)
        (self.future_logs if is_future else self.logs)[partition] = log
        self.context.listener.log_needs_sync(log)
        return log

    def has_half_made(self, partition: TopicPartition) -> bool:
        """Whether making its log failed midway here. What is left has no records, and whoever tries
        again must do it here: two directories with one partition contradict each other."""
        return f"{self.path}/{partition_directory_name(partition)}" in self._half_made

    def free_name(self, partition: TopicPartition) -> None:
        """No older log of this name may come back after a power cut."""
        if self.is_half_deleted(partition):
            self._finish_deleting()

    def drop_lost(self, partition: TopicPartition) -> None:
        """What the checkpoints keep of a log whose files are gone is no longer wanted: its topic
        was deleted, or a log is made anew, which must not inherit it after a crash."""
        if self.checkpoints.carries(partition):
            self.checkpoints.forget(partition)
            self._report_removed(partition)
            self._half_deleted[partition] = f"{self.path}/{partition_directory_name(partition)}"

    def delete(self, doomed: Iterable[Doomed]) -> None:
        """Take logs out of use, and queue their directories for deletion. A log that the reason
        does not fit is set aside."""
        self.begin_deleting(doomed)
        self._finish_deleting()

    def begin_deleting(self, doomed: Iterable[Doomed]) -> None:
        """As `delete`, but durable only once `finishing_deletion` ran, or a log is made anew."""
        self.health.check()
        try:
            for each in list(doomed):
                if (fault := fault_of(each)) is not None:
                    logger.error("%s is not deleted: %s", each.log.path, fault)
                    self._write_offsets(each.log)
                    self._set_aside(each.log)
                else:
                    self._begin_deleting(each.log)
        except OSError as error:
            raise self.health.failed(f"deleting logs in {self.path}", error) from error

    def _begin_deleting(self, log: Log) -> None:
        self.checkpoints.forget(log.partition)
        if self._rename(log, DirectoryMark.DELETE):
            self._queue_removal(log.path, log)
        else:
            log.let_go()
        self._half_deleted[log.partition] = log.path

    def make_way(self, doomed: Doomed) -> None:
        """Another directory's log is to take over: from here on this one cannot come back."""
        self.begin_deleting([doomed])
        try:
            self.files.sync_directory(self.path)
        except OSError as error:
            raise self.health.failed(f"deleting {doomed.log.path}", error) from error

    def finishing_deletion(self) -> Steps[None]:
        """What waits for the disk, as work for a thread. Where that is full, it is tried again."""
        if self._half_deleted and self.health.is_online:
            finished = dict(self._half_deleted)
            job = yield from self.checkpoints.making_urgent_job(self._every_log())
            removal_job = self.context.listener.removal_job(self.path)
            try:
                yield lambda: self.files.sync_directory(self.path)
            except OSError as error:
                raise self.health.unsynced(f"deleting logs in {self.path}", error) from error
            try:
                yield removal_job  # first: after a crash in between, checkpoints have the name
                while not (yield job.run):  # what was to be written instead was refused
                    job = yield from self.checkpoints.making_urgent_job(self._every_log())
            except OSError as error:
                raise self.health.refused(f"deleting logs in {self.path}", error) from error
            for partition, path in finished.items():
                if self._half_deleted.get(partition) == path:  # and not a later one of its name
                    del self._half_deleted[partition]

    def is_half_deleted(self, partition: TopicPartition) -> bool:
        """A log of this name would have to wait until the deletion of an older one is durable."""
        return partition in self._half_deleted and self.health.is_online

    @property
    def is_deleting(self) -> bool:
        return bool(self._half_deleted) and self.health.is_online

    def resume_deletion(self, found: SetAside) -> None:
        """A `-delete` directory of a deleted topic, or of one whose log is elsewhere, or without a
        record: it was taken out of use before the broker stopped, perhaps in the middle of it."""
        path, partition = found.path, found.partition
        self.set_aside.remove(found)
        self._queue_removal(path, None)
        for name in {partition, *self._cut_to(path, partition)}:
            if name not in self.logs and name not in self.unreadable:
                self.checkpoints.forget(name)
                self._report_removed(name)
                self._half_deleted[name] = path

    def _cut_to(self, path: str, partition: TopicPartition) -> list[TopicPartition]:
        """Whose name may have been cut short to make that of a directory to be deleted."""
        if len(path.rpartition("/")[2]) < NAME_CHARACTERS_MAX:
            return []
        return [
            each
            for each in self.checkpoints.not_open
            if each.partition == partition.partition and each.topic.startswith(partition.topic)
        ]

    def _finish_deleting(self) -> None:
        try:
            self.files.sync_directory(self.path)
        except OSError as error:
            raise self.health.unsynced(f"deleting logs in {self.path}", error) from error
        try:
            self._write_what_is_gone()
        except OSError as error:
            raise self.health.refused(f"deleting logs in {self.path}", error) from error
        self._half_deleted.clear()

    def _write_what_is_gone(self) -> None:
        # A later log of the same name must not inherit a recovery point, nor anything else.
        self.context.listener.removal_job(self.path)()
        self.write_checkpoints()

    def set_aside_strays(self, logs: Iterable[Log]) -> None:
        """Rename the directories of logs that the metadata does not place here. Nobody deletes
        them; `take_back` puts one into service again."""
        self.health.check()
        strays = list(logs)
        try:
            for log in strays:
                self._write_offsets(log)
                self._forget(log)
                self._report_removed(log.partition)
            self._write_what_is_gone()
            for log in strays:
                self._set_aside(log)
            self.files.sync_directory(self.path)
        except OSError as error:
            raise self.health.failed(f"setting aside strays in {self.path}", error) from error

    def _write_offsets(self, log: Log) -> None:
        if self.files.exists(log.path):
            point, start = log.recovery_checkpoint, log.log_start_offset
            write_offsets(self.files, log.path, point, start, log.high_watermark)

    def _set_aside(self, log: Log) -> None:
        if self._rename(log, DirectoryMark.STRAY):
            found = look_at(self.files, log.path, log.partition, DirectoryMark.STRAY)
            self.set_aside.add(found)
            logger.warning("%s is set aside: the metadata does not place it here", log.path)
        log.let_go()

    def has_records(self, found: SetAside) -> bool:
        return has_records(self.files, found.path)

    def keep(self, found: Sequence[SetAside]) -> None:
        """Directories that were found, for whose deletion there is no reason, are set aside."""
        self.health.check()
        try:
            for each in found:
                self._keep_offsets(each)
            self._write_what_is_gone()
            for each in found:
                path = self._rename_found(each, DirectoryMark.STRAY)
                logger.warning("%s is set aside as %s", each.path, path)
            self.files.sync_directory(self.path)
        except OSError as error:
            raise self.health.failed(f"setting aside strays in {self.path}", error) from error

    def _keep_offsets(self, found: SetAside) -> None:
        if self.checkpoints.has_records_of(found.partition):
            checkpoint, mark = self.checkpoints.carried_of(found.partition)
            point, start = checkpoint.recovery_point or 0, checkpoint.log_start_offset
            write_offsets(self.files, found.path, point, start, mark)
            self.checkpoints.forget(found.partition)
        self._report_removed(found.partition)

    def _rename_found(self, found: SetAside, mark: DirectoryMark) -> str:
        path = f"{self.path}/{marked_directory_name(found.partition, mark, unique_id())}"
        self.files.rename(found.path, path)
        self.set_aside.remove(found)
        self.set_aside.add(found._replace(path=path, mark=mark))
        return path

    def delete_found(self, found: SetAside, deletion: TopicDeletion) -> None:
        """A directory of a topic that was deleted while nobody could delete it here."""
        if found.topic_id != deletion.topic_id:
            raise ValueError(f"{found.path} is not of the topic that was deleted")
        self.health.check()
        try:
            path = self._rename_found(found, DirectoryMark.DELETE)
        except OSError as error:
            raise self.health.failed(f"deleting {found.path}", error) from error
        self.resume_deletion(found._replace(path=path, mark=DirectoryMark.DELETE))
        logger.info("%s is of a topic that was deleted, and is deleted now", found.path)

    def take_back(self, found: SetAside, partition: TopicPartition, config: TopicConfig) -> Log:
        """The metadata has the topic of a directory that was set aside: it serves again.

        StorageError where something else has its name, or it cannot be opened.
        """
        self.health.check()
        self.free_name(partition)
        path = f"{self.path}/{partition_directory_name(partition)}"
        try:
            if self.files.exists(path):
                raise StorageError(f"{found.path} is needed, but {path} is in its way")
            offsets = read_offsets(self.files, found.path)
            checkpoint, high_watermark = offsets or self.checkpoints.carried_of(partition)
            self.files.rename(found.path, path)
            self.set_aside.remove(found)
            self.files.sync_directory(self.path)
            log = open_log(self.context, partition, path, config, checkpoint)
        except OSError as error:
            raise self.health.refused(f"opening {found.path}", error) from error
        self.taken_back.append(path)
        log.topic_id.set_known(found.topic_id)
        log.update_high_watermark(high_watermark)
        self.logs[partition] = log
        self.checkpoints.forget(partition)
        self.context.listener.log_needs_sync(log)
        logger.warning("%s is in service again as %s", found.path, path)
        return log

    def finish_taking_back(self) -> None:
        """What logs brought along is in the checkpoints from here on."""
        if not self.taken_back or not self.health.is_online:
            return
        paths, self.taken_back = self.taken_back, []
        try:
            self.write_checkpoints()
            for path in paths:
                remove_offsets(self.files, path)
        except OSError as error:
            self.health.refused(f"writing checkpoints in {self.path}", error)

    def has_lost(self, partition: TopicPartition, topic_id: TopicId | None) -> bool:
        """The checkpoints know a log with records, and there is none, also not set aside."""
        is_aside = topic_id is not None and self.set_aside.of(topic_id, partition.partition)
        return not is_aside and self.checkpoints.has_records_of(partition)

    def lose(self, log: Log) -> None:
        """Somebody else has removed or replaced the files of a log. What its checkpoints say is
        kept for when they are back; its open files are, as long as the broker runs."""
        self.checkpoints.carry(log)
        self._forget(log)
        self.lost_logs.append(log)
        log.health.end_use()

    def promote_future(self, partition: TopicPartition) -> Log:
        """A future log has caught up, and takes the name of the current one, which is gone."""
        self.health.check()
        log = self.future_logs[partition]
        path = f"{self.path}/{partition_directory_name(partition)}"
        try:
            self.files.rename(log.path, path)
            self.files.sync_directory(self.path)
        except OSError as error:
            raise self.health.failed(f"renaming {log.path}", error) from error
        log.moved(path)
        self.logs[partition] = self.future_logs.pop(partition)
        return log

    def _rename(self, log: Log, mark: DirectoryMark) -> bool:
        """Take a log out of use. False where somebody else has removed its directory."""
        path = f"{self.path}/{marked_directory_name(log.partition, mark, unique_id())}"
        try:
            self.files.rename(log.path, path)
        except FileNotFoundError:
            self.check_in_place()
            logger.error("%s was removed by somebody else", log.path)
            is_there = False
        else:
            log.moved(path)
            is_there = True
        self._forget(log)
        self._report_removed(log.partition)
        return is_there

    def _report_removed(self, partition: TopicPartition) -> None:
        self.context.listener.log_removed(self.path, partition)

    def _forget(self, log: Log) -> None:
        for known in (self.logs, self.future_logs):
            if known.get(log.partition) is log:
                del known[log.partition]

    def _queue_removal(self, path: str, log: Log | None) -> None:
        delay_ms = log.config.file_delete_delay_ms if log is not None else 0
        close = None if log is None else log.let_go
        removal = Removal(self.files, [path], close=close, is_directory=True)
        self.context.deletions.add(removal, self.context.clock.now_ms() + delay_ms)

    # Checkpoints

    def write_checkpoints(self) -> None:
        self.checkpoints.write_now(self._every_log())

    def write_with(self, log: Log) -> None:
        self.checkpoints.write_now(self._logs_with(log))

    def writing_with(self, log: Log) -> Steps[None]:
        return self.checkpoints.writing(lambda: self._logs_with(log))

    def _logs_with(self, log: Log) -> list[Log]:
        # A log that is still being opened is not among them yet; what it says counts. Of two with
        # the same name the earlier one is deleted, and what the later one says holds.
        return list({id(each): each for each in [log, *self._every_log()]}.values())

    def making_checkpoint_job(self) -> Steps[CheckpointJob]:
        """What to write now and then, in a thread."""
        return (yield from self.checkpoints.making_job(self._every_log()))

    def writing_checkpoints(self) -> Steps[None]:
        """Until what holds now is written; OSError if it is not."""
        return self.checkpoints.writing(self._every_log)

    def logs_of(self, partitions: Iterable[TopicPartition]) -> list[Log]:
        """Those that are here, future ones included."""
        return [
            known[partition]
            for partition in partitions
            for known in (self.logs, self.future_logs)
            if partition in known
        ]

    def _every_log(self) -> list[Log]:
        return [*self.logs.values(), *self.future_logs.values()]

    # Stopping

    def close(self, broker_epoch: int = -1, run_all: RunAll = run_in_order) -> None:
        """Close every log, then say that all was closed. A failing directory is just let go.

        `run_all` may close several logs at a time: most of it is waiting for syncs.
        """
        try:
            if self.health.is_online and self.is_loaded:
                self.check_in_place()
                run_all([log.close for log in self._every_log()])
                self.health.check()
                self.write_checkpoints()
                path = f"{self.path}/{CLEAN_SHUTDOWN_NAME}"
                write_clean_shutdown(self.files, path, broker_epoch)
        except OSError as error:
            self.health.failed(f"closing {self.path}", error)
        except StorageUnavailable:
            pass  # the failure is noted; without the marker the next start recovers
        finally:
            self.let_go()

    def let_go(self) -> None:
        for log in [*self._every_log(), *self.lost_logs]:
            log.let_go()
        self._unlock()

    def _unlock(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def unique_id() -> str:
    return random_uuid().hex()
