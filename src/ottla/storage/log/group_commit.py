"""One sync for all that wait for one.

Owns      the syncs of one log, one at a time. While one runs, all that ask for one are served
          together by the next.
Leaves    the sync to `flushing.py`, running the steps to the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.base.scheduling.steps import PAUSE, Start, Steps
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.flushing import flushing

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

SERVED_AT_ONCE = 200
Done = Callable[[Exception | None], None]


class GroupCommit:
    def __init__(self, log: Log, start: Start) -> None:
        self._log = log
        self._start = start
        self._waiting: list[tuple[int, Done]] = []
        self._is_running = False

    def wait(self, offset: int, done: Done) -> None:
        """Call `done` once everything below `offset` is on disk, or never will be."""
        if offset <= self._log.offsets.recovery_point:
            done(None)
            return
        self._waiting.append((offset, done))
        if not self._is_running:
            self._is_running = True
            self._start(self._syncing())

    def _syncing(self) -> Steps[None]:
        try:
            while self._waiting:
                try:
                    self._check_open()
                    yield from flushing(self._log)
                except Exception as error:
                    self._end_all(error)
                else:
                    yield from self._serving()
        finally:
            self._is_running = False

    def _check_open(self) -> None:
        if self._log.is_closed:
            raise StorageUnavailable(f"{self._log.partition}: closed before its sync")

    def _serving(self) -> Steps[None]:
        """After a slow sync, very many may have waited for it."""
        point, end_offset = self._log.offsets.recovery_point, self._log.offsets.end
        waiting, self._waiting = self._waiting, []
        for number, (offset, done) in enumerate(waiting, 1):
            if number % SERVED_AT_ONCE == 0:
                yield PAUSE
            if offset <= point:
                done(None)
            elif offset > end_offset:  # truncated: replication decides what is acknowledged
                done(StorageUnavailable(f"{self._log.partition}: truncated before it was synced"))
            else:
                self._waiting.append((offset, done))

    def _end_all(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done(error)
