"""Tasks with an owner: they are kept alive, their failures are logged, and they end with it.

The event loop holds tasks weakly and tells nobody when one fails. A `TaskGroup` ends all its tasks
when one fails, which is right for the parts of a broker and wrong for one client's request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


async def next_turn() -> None:
    """Let everybody else on the event loop do something first."""
    await asyncio.sleep(0)


class OwnedTasks:
    def __init__(self) -> None:
        self._running: set[asyncio.Future[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._log_failure)
        task.add_done_callback(self._running.discard)
        return task

    def own(self, future: asyncio.Future[Any]) -> None:
        """Keep one alive whose outcome somebody else looks at, unless the owner ends before."""
        self._running.add(future)
        future.add_done_callback(_retrieve)
        future.add_done_callback(self._running.discard)

    async def finish(self) -> None:
        """Return when all of them have ended by themselves."""
        while self._running:
            await asyncio.wait(list(self._running))

    async def close(self) -> None:
        """Cancel what still runs, and return when all of it has ended."""
        while self._running:
            running = list(self._running)
            for task in running:
                task.cancel()
            await asyncio.wait(running)

    @staticmethod
    def _log_failure(task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task %r failed", task.get_name(), exc_info=error)


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Else asyncio prints the error of one that nobody has waited for, at some later time."""
    if not future.cancelled():
        future.exception()
