"""Deletes the files of deleted partitions: first renamed, then removed.

Owns      the deleted partitions whose files still exist.
Promises  the event loop never waits for the disk: a few directories are renamed per iteration, and
          syncs run in a thread. A deletion interrupted by a crash or a failing disk is completed at
          the next start, if the topic is among the last 10,000 deleted ones, which the metadata
          stores. Any other log on disk that is not in the metadata is reported and set aside, never
          deleted. Nothing is deleted without evidence from the metadata.
Leaves    removing the files, after `file.delete.delay.ms`, to the storage.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from itertools import islice

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Driver, run_blocking
from ottla.base.scheduling.tasks import next_iteration
from ottla.base.topic_deletion import DeletionEvidence
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.directories.startup_settlement import DeletionOf, deletion_of_log
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log

log = logging.getLogger(__name__)

DELETED_AT_ONCE = 8  # partitions, with one rename each


class Deletions:
    def __init__(self, logs: LogManager, driver: Driver) -> None:
        self._logs = logs
        self._driver = driver
        self._waiting: dict[TopicPartition, DeletionEvidence] = {}
        self._freeing = asyncio.Lock()  # a few are renamed per iteration of the loop
        self._finishing = asyncio.Lock()  # one pass syncs all deletions before it

    def __contains__(self, name: TopicPartition) -> bool:
        """Whether its files still have their name."""
        return name in self._waiting

    @property
    def are_done(self) -> bool:
        return not self._waiting and not self._logs.is_deleting

    def is_in_the_way(self, name: TopicPartition) -> bool:
        """Whether files of an older topic with this name exist: creating new ones would wait for
        the disk."""
        return name in self._waiting or self._logs.is_half_deleted(name)

    def add(self, name: TopicPartition, deletion: DeletionEvidence) -> None:
        """The files are renamed by `free_few` or `settle`."""
        self._waiting[name] = deletion

    def free_few(self) -> None:
        """Rename the files if there are only a few. Many are renamed by `settle`, in slices."""
        if len(self._waiting) <= DELETED_AT_ONCE:
            self.free(list(self._waiting))

    def free(self, names: Iterable[TopicPartition]) -> None:
        """Rename the files now. The deletion is durable once `settle` has returned."""
        deletable = {name: self._waiting[name] for name in names}
        try:
            self._logs.begin_deleting(deletable)
        except (StorageError, OSError) as error:
            log.error("deleted topics are still on disk: %s", error)
        for name in deletable:  # only now: after a failure they still have their files
            self._waiting.pop(name, None)

    async def settle(self) -> None:
        """Wait until all deletions up to now are durable."""
        while self._waiting:
            async with self._freeing:
                self.free(list(islice(self._waiting, DELETED_AT_ONCE)))
                await next_iteration()
        async with self._finishing:
            try:
                await self._driver.run(self._logs.finishing_deletion())
            except (StorageError, OSError) as error:
                log.error("deleted topics may be on disk after a power cut: %s", error)

    def close(self) -> None:
        """As `settle`, at shutdown: blocks."""
        self.free(list(self._waiting))
        try:
            run_blocking(self._logs.finishing_deletion())
        except (StorageError, OSError) as error:
            log.error("deleted topics may be on disk after a power cut: %s", error)

    def clear_away(self, strays: Iterable[Log], deletion_of: DeletionOf) -> None:
        """Handle logs found on disk that belong to no partition of this broker."""
        deleted: dict[TopicPartition, DeletionEvidence] = {}
        unknown: list[Log] = []
        for each in strays:
            deletion = deletion_of_log(each, deletion_of)
            if deletion is None:
                unknown.append(each)
            else:
                deleted[each.partition] = deletion
        self._logs.set_aside_strays(unknown)
        if deleted:
            log.info("deleted %d partitions of deleted topics, or that were moved", len(deleted))
            self._waiting |= deleted
            self.close()
