"""Moves partitions between the log directories of this broker while they are in use.

Owns      the moves in progress. Copied data is in a future log, a second log of the partition in
          the target directory; after a restart a move continues from there.
Promises  clients are not affected: the future log replaces the current one between two requests,
          once it has the same records and is as durable. A failed move leaves the current log
          unchanged; the copy is kept if the current log cannot be read any more.
Leaves    files and their names to the storage, the location of partitions to the controller.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ottla.base.clock import Clock
from ottla.base.ids import TopicPartition
from ottla.base.rates import RateMeter, Windows
from ottla.base.scheduling.steps import Driver
from ottla.base.scheduling.tasks import OwnedTasks, next_iteration
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.errors import StorageError
from ottla.storage.log import log_copying
from ottla.storage.log.flushing import flushing
from ottla.storage.log.log import Log
from ottla.storage.log.log_copying import (
    copy_rest,
    copying_some,
    is_at_end,
    prepare_to_replace,
)

log = logging.getLogger(__name__)

LOOK_AGAIN_MS = 1000  # to notice a changed limit
Moved = Callable[[Partition, LogDirectory], None]


class DirectoryMoves:
    def __init__(
        self,
        replicas: ReplicaManager,
        driver: Driver,
        clock: Clock,
        windows: Windows,
        bytes_per_second: Callable[[], int],
        moved: Moved,
    ) -> None:
        self._replicas = replicas
        self._logs = replicas.logs
        self._driver = driver
        self._clock = clock
        self._windows = windows
        self._bytes_per_second = bytes_per_second
        self._moved = moved
        self._meter = RateMeter()
        self._tasks = OwnedTasks()
        self._running: dict[TopicPartition, asyncio.Task[None]] = {}
        self._replacing = asyncio.Lock()

    def __contains__(self, name: TopicPartition) -> bool:
        return name in self._running

    def resume(self) -> None:
        """Continue the moves that were in progress when the broker stopped."""
        for name in self._logs.moves.partitions():
            try:
                self._start(self._replicas.partition(*name))
            except BrokerError as error:
                log.warning("%s: its move to another directory was not resumed: %s", name, error)

    def move(self, topic: str, index: int, path: str) -> None:
        """Start moving a partition, or cancel its move. BrokerError if that is not possible."""
        directory = self._directory(path)
        partition = self._partition(topic, index)
        name = partition.name
        target = self._logs.moves.target_of(name)
        if target is not None and target is not directory:
            self.stop(name)
            self._logs.moves.cancel(name)
            target = None
        if target is None and directory is not self._logs.directory_of(name):
            self._begin(partition, directory)
        elif target is directory and name not in self._running:
            self._start(partition)  # it could not be resumed when the broker started

    def _directory(self, path: str) -> LogDirectory:
        for directory in self._logs.directories:
            if directory.path == path:
                directory.health.check()
                return directory
        raise BrokerError(ErrorCode.LOG_DIR_NOT_FOUND, f"{path} is no log directory of this broker")

    def _partition(self, topic: str, index: int) -> Partition:
        try:
            return self._replicas.partition(topic, index)
        except BrokerError as error:
            if error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                raise BrokerError(ErrorCode.REPLICA_NOT_AVAILABLE, error.message) from error
            raise

    def _begin(self, partition: Partition, directory: LogDirectory) -> None:
        if len(self._logs.online) < len(self._logs.directories):
            # An offline directory may hold an older future log of the partition.
            what = "nothing is moved while a log directory is offline"
            raise BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, what)
        current = partition.log
        try:
            future = self._logs.moves.begin(partition.name, current.config, directory)
        except ValueError as error:
            raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, str(error)) from error
        if current.log_start_offset:
            future.truncate_fully_and_start_at(current.log_start_offset)
        self._start(partition)

    def _start(self, partition: Partition) -> None:
        name = partition.name
        task = self._tasks.start(self._run(partition), name=f"move {name}")
        self._running[name] = task
        task.add_done_callback(lambda ended: self._ended(name, ended))

    def _ended(self, name: TopicPartition, task: asyncio.Task[None]) -> None:
        if self._running.get(name) is task:  # not a later move of the same partition
            del self._running[name]

    def stop(self, name: TopicPartition) -> None:
        task = self._running.pop(name, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        await self._tasks.close()

    # One move

    async def _run(self, partition: Partition) -> None:
        name = partition.name
        try:
            while (future := self._future_of(partition)) is not None:
                await self._catch_up(partition, future)
                if (
                    not partition.log.is_discarded
                ):  # so that the replacement does not wait for the disk
                    await self._driver.run(partition.log.producers.loading())
                await self._driver.run(flushing(future))
                if await self._replace_if_copied(partition, future):
                    await self._replicas.deleted()  # checkpoints in the old directory are removed
                    return  # a later move may have started
        except (BrokerError, StorageError, OSError) as error:
            if self._is_here(partition):  # otherwise a later topic with the same name may be moving
                log.error("%s was not moved to another directory: %s", name, error)
                self._give_up(name)

    @staticmethod
    def _is_here(partition: Partition) -> bool:
        """False if the topic was deleted; another one may have its name now."""
        return not partition.log.is_discarded

    def _future_of(self, partition: Partition) -> Log | None:
        return self._logs.moves.get(partition.name) if self._is_here(partition) else None

    def _is_wanted(self, partition: Partition, future: Log) -> bool:
        """False if the topic was deleted or the move cancelled during an await."""
        return self._future_of(partition) is future

    async def _catch_up(self, partition: Partition, future: Log) -> None:
        """Copy until little is left; producers may append as fast as this copies."""
        while self._is_wanted(partition, future):
            copied = await self._driver.run(copying_some(partition.log, future))
            self._meter.record(copied, self._now_ms(), self._windows)
            if copied < log_copying.CHUNK_BYTES and is_at_end(partition.log, future):
                return
            while (wait_ms := self._wait_ms()) > 0 and self._is_wanted(partition, future):
                await asyncio.sleep(min(wait_ms, LOOK_AGAIN_MS) / 1000)

    def _wait_ms(self) -> int:
        """The throttle time under the current limit; a limit of 0 stops all moves."""
        limit = self._bytes_per_second()
        if limit == 0:
            return LOOK_AGAIN_MS
        return self._meter.wait_ms(limit, self._now_ms(), self._windows)

    def _now_ms(self) -> int:
        return int(self._clock.monotonic_s() * 1000)

    async def _replace_if_copied(self, partition: Partition, future: Log) -> bool:
        """Whether the future log has replaced the current one. Each waits for syncs, so there is at
        most one in an iteration of the event loop."""
        async with self._replacing:
            is_copied = self._is_wanted(partition, future) and copy_rest(partition.log, future)
            if is_copied:
                self._take_over(partition, future)
                await next_iteration()
            return is_copied

    def _take_over(self, partition: Partition, future: Log) -> None:
        """Replace the log. Synchronous, so nothing can be appended in between."""
        prepare_to_replace(partition.log, future, partition.flush_required_to)
        partition.replace_log(self._logs.moves.finish(partition.name))
        directory = self._logs.directory_of(partition.name)
        assert directory is not None
        log.info("%s was moved to %s", partition.name, directory.path)
        self._moved(partition, directory)

    def _give_up(self, name: TopicPartition) -> None:
        try:
            self._logs.moves.cancel(name)
        except BrokerError as error:
            # A directory has failed. If it holds the current log, the future log is kept, and the
            # next start continues with it.
            log.warning("%s: the partial copy is not deleted: %s", name, error)
