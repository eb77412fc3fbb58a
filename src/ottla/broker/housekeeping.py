"""Periodic work of a broker: retention, syncs, checkpoints, file deletion, compaction, and checking
that its files still exist.

Promises  nothing here blocks the event loop: decisions are short, and disk access runs in threads
          or in a helper process. A failure of one log does not affect the others.
Leaves    what is due to the storage.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from ottla.base.clock import Clock
from ottla.base.files.readers import Reader
from ottla.base.ids import TopicPartition
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.pacing import repeat
from ottla.base.scheduling.step_scheduler import StepScheduler, selecting
from ottla.base.scheduling.steps import Driver, Steps, looking_up, looking_up_in_steps
from ottla.base.scheduling.tasks import next_iteration
from ottla.broker.storage_events import StorageEvents
from ottla.config.broker_options import BrokerConfig
from ottla.config.options import INT32_MAX
from ottla.protocol.errors import BrokerError
from ottla.storage.compaction.compactor import Compactor, Round
from ottla.storage.compaction.helper import Event
from ottla.storage.compaction.helper_process import HelperProcess
from ottla.storage.compaction.request import CleaningLimits
from ottla.storage.directories.directory_watch import DirectoryCheck, DirectoryWatch
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.errors import StorageError
from ottla.storage.log.deletion import Removal
from ottla.storage.log.flushing import flushing
from ottla.storage.log.log import Log
from ottla.storage.log.retention import SEGMENTS_AT_ONCE, preload_retention

log = logging.getLogger(__name__)

REMOVAL_INTERVAL_MS = 1_000
WATCH_INTERVAL_MS = 250  # the longest time during which records are written to removed files
FLUSH_INTERVAL_MS_MAX = 1_000
HELPER_IDLE_MS_MAX = 10_000


class Housekeeping:
    def __init__(
        self,
        logs: LogManager,
        events: StorageEvents,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        driver: Driver | None = None,
    ) -> None:
        """`config` is called each time, because settings change at run time."""
        self._driver: Driver = driver or StepScheduler(clock)
        self._logs = logs
        self._events = events
        self._watch = DirectoryWatch(logs)
        self._config = config
        self._clock = clock
        self._unsynced_log = SparseLog(log, logging.WARNING)
        self._unretained_log = SparseLog(log, logging.WARNING)
        self._helper: HelperProcess | None = None  # of compaction, working or idle
        self._helper_used_ms = 0

    async def run(self) -> None:
        config = self._config()
        flush_interval_ms = min(config.log_flush_scheduler_interval_ms, FLUSH_INTERVAL_MS_MAX)
        async with asyncio.TaskGroup() as tasks:
            for work, interval_ms in (
                (self.retain, lambda: config.log_retention_check_interval_ms),
                (self.flush, lambda: flush_interval_ms),
                (self.checkpoint, lambda: config.replica_high_watermark_checkpoint_interval_ms),
                (self.remove, lambda: REMOVAL_INTERVAL_MS),
                (self.watch, lambda: WATCH_INTERVAL_MS),
                (self.expire_producers, lambda: config.producer_id_expiration_check_interval_ms),
            ):
                tasks.create_task(repeat(work, interval_ms), name=work.__name__)
            if config.log_cleaner_enable:
                tasks.create_task(repeat(self.compact, self._backoff_ms), name="compaction")

    def _backoff_ms(self) -> int:
        return self._config().log_cleaner_backoff_ms

    async def retain(self) -> None:
        """Delete segments by age and size."""
        for each in self._logs.logs:
            left = len(each.segments)  # not those of records that are old when they are written
            try:
                while left > 0 and (deleted := await self._retain_some(each)):
                    left -= deleted
                    await next_iteration()
            except (BrokerError, StorageError) as error:
                self._log_sparsely(self._unretained_log, "%s: retention: %s", each.partition, error)
            except OSError as error:
                each.health.refused(f"retention of {each.path}", error)
            await asyncio.sleep(0)

    async def _retain_some(self, log_: Log) -> int:
        """Delete some of the segments that are due; returns how many."""
        await self._driver.run(looking_up(partial(preload_retention, log=log_)))
        return 0 if log_.is_closed else log_.enforce_retention(SEGMENTS_AT_ONCE)

    async def flush(self) -> None:
        """Sync logs whose interval has passed, new logs, and closed segments."""
        due = await self._driver.run(selecting(self._logs.logs, self._logs.due_flushes))
        for each in dict.fromkeys((*due, *self._events.take_unsynced())):
            if not each.is_closed:
                try:
                    await self._driver.run(flushing(each))
                except (OSError, BrokerError) as error:
                    self._log_sparsely(
                        self._unsynced_log, "%s: not synced: %s", each.partition, error
                    )
                    if each.health.is_online:  # its files cannot be opened, but no sync has failed
                        self._events.log_needs_sync(each)

    def _log_sparsely(self, sparse: SparseLog, message: str, *arguments: object) -> None:
        """Log a failure. A full disk affects every log on it and is logged once."""
        sparse.write(self._clock.monotonic_s(), message, *arguments)

    async def checkpoint(self) -> None:
        for directory, making in self._logs.checkpoint_jobs():
            job = await self._driver.run(making)
            await in_directory(self._driver, directory, "writing checkpoints", job.run)

    async def remove(self) -> None:
        failed: list[tuple[LogDirectory, Removal]] = []
        while due := self._logs.due_removals():
            for directory, removal in due:
                if not await in_directory(self._driver, directory, "deleting files", removal.run):
                    failed.append((directory, removal))
        for directory, removal in failed:
            directory.context.deletions.add(removal, self._clock.now_ms())  # retried later
        for directory in self._logs.online:
            compactor = self._events.known_compactor(directory.path)
            if compactor is not None and not compactor.offsets.is_written:
                await in_directory(
                    self._driver, directory, "writing cleaner offsets", compactor.offsets.job()
                )

    async def watch(self) -> None:
        """Take logs offline whose files were removed, replaced or unmounted."""
        # in parallel: one disk may be slow
        await asyncio.gather(*map(self._look, self._watch.checks()))

    async def _look(self, check: DirectoryCheck) -> None:
        try:
            await self._driver.in_thread(check.run)  # it checks the directory itself
        except OSError as error:
            check.directory.health.refused("looking for its files", error)
        else:
            if self._watch.finish(check):
                # Otherwise a broker that is killed now would not know of the log, and create it.
                await self.checkpoint()

    async def expire_producers(self) -> None:
        now_ms = self._clock.now_ms()
        expiration_ms = self._config().producer_id_expiration_ms
        for each in self._logs.logs:
            await self._driver.run(each.producers.expiring(now_ms, expiration_ms))
            await self._driver.next()

    # Compaction

    async def compact(self) -> None:
        """Clean logs until none is dirty enough.

        The helper process ends after some idle time: starting one takes longer than a typical
        round, and under load nearly every round has work.
        """
        try:
            for directory in self._logs.online:
                await self._compact(directory)
        finally:
            await self._close_idle_helper()

    async def _compact(self, directory: LogDirectory) -> None:
        compactor = self.compactor_of(directory)
        compactor.limits = cleaning_limits(self._config())
        for each in await self._candidates(compactor, directory):
            now_ms = self._clock.now_ms()
            await self._driver.run(looking_up(partial(compactor.preload, log=each, now_ms=now_ms)))
            # yield between logs: after a start, many may not be in the page cache
            await next_iteration()
        while (chosen := await self._begin(compactor, directory)) is not None:
            await self._clean(compactor, chosen)
            self._helper_used_ms = self._clock.now_ms()
            compactor.limits = cleaning_limits(self._config())

    async def _begin(self, compactor: Compactor, directory: LogDirectory) -> Round | None:
        logs = await self._candidates(compactor, directory)

        def begin(reader: Reader) -> Steps[Round | None]:
            return compactor.beginning(reader, logs, self._clock.now_ms())

        return await self._driver.run(looking_up_in_steps(begin))

    async def _candidates(self, compactor: Compactor, directory: LogDirectory) -> list[Log]:
        return await self._driver.run(selecting(directory.logs.values(), compactor.candidates))

    async def _close_idle_helper(self) -> None:
        is_idle = self._clock.now_ms() - self._helper_used_ms >= HELPER_IDLE_MS_MAX
        if self._helper is not None and is_idle:
            helper, self._helper = self._helper, None
            await self._driver.in_thread(helper.close)

    def compactor_of(self, directory: LogDirectory) -> Compactor:
        return self._events.compactor(directory.path)

    async def _clean(self, compactor: Compactor, chosen: Round) -> None:
        """Events of the helper process are read in a thread and handled on the event loop."""
        loop = asyncio.get_running_loop()
        try:
            helper = self._idle_helper()
        except OSError:
            compactor.abandon(chosen)
            raise
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        def pump() -> None:
            try:
                for event in helper.run(chosen.request):
                    loop.call_soon_threadsafe(events.put_nowait, event)
            finally:
                loop.call_soon_threadsafe(events.put_nowait, None)

        pumping = self._driver.in_thread(pump)
        try:
            while (event := await events.get()) is not None:
                await self._driver.run(compactor.taking(chosen, event))
            await pumping
        except BaseException:
            self._helper = None
            helper.kill()
            compactor.abandon(chosen)
            raise

    def _idle_helper(self) -> HelperProcess:
        if self._helper is not None and self._helper.has_exited:
            self._helper.close()
            self._helper = None
        if self._helper is None:
            self._helper = HelperProcess()
        return self._helper

    def removed(self, partition: TopicPartition) -> None:
        """A log was deleted: drop its compaction state."""
        for directory in self._logs.online:
            self.compactor_of(directory).removed(partition)

    def close_helper(self) -> None:
        """Stop the helper process."""
        if self._helper is not None:
            self._helper.close()
            self._helper = None

    def close(self) -> None:
        """Write all checkpoints and stop the helper process."""
        self.close_helper()
        for directory in self._logs.online:
            compactor = self._events.known_compactor(directory.path)
            if compactor is not None and not compactor.offsets.is_written:
                try:
                    compactor.offsets.job()()
                except OSError as error:
                    directory.health.refused("writing cleaner offsets", error)


def cleaning_limits(config: BrokerConfig) -> CleaningLimits:
    bytes_per_second = config.log_cleaner_io_max_bytes_per_second
    return CleaningLimits(
        # same bound as in Kafka
        map_bytes_max=min(config.log_cleaner_dedupe_buffer_size, INT32_MAX),
        bytes_per_second=max(1.0, bytes_per_second) if bytes_per_second > 0 else float("inf"),
    )


async def in_directory(
    driver: Driver, directory: LogDirectory, operation: str, work: Callable[[], object]
) -> bool:
    """Run disk work in a thread; returns whether it succeeded. A failing disk takes its
    directory offline. A full one does not: a missing checkpoint only makes recovery slower. A
    directory that replaced the opened one is not modified."""

    def work_in_place() -> None:
        directory.ownership.check_in_place()
        work()

    try:
        await driver.in_thread(work_in_place)
    except OSError as error:
        directory.health.refused(operation, error)
        return False
    return True
