"""Tasks with an owner: the owner keeps them alive, logs their failures, and cancels them when it
closes.

The event loop holds only weak references to tasks and does not report failures. A `TaskGroup`
cancels all its tasks when one fails, which is right for the parts of a broker and wrong for
requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


async def next_iteration() -> None:
    """Yield to the event loop once."""
    await asyncio.sleep(0)


class OwnedTasks:
    def __init__(self) -> None:
        self._running: dict[asyncio.Future[Any], None] = {}  # in the order of their start

    def __len__(self) -> int:
        return len(self._running)

    def start(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running[task] = None
        task.add_done_callback(self._log_failure)
        task.add_done_callback(self._forget)
        return task

    def own(self, future: asyncio.Future[Any]) -> None:
        """Keep a task alive whose outcome is handled elsewhere; it is cancelled when the owner
        closes."""
        self._running[future] = None
        future.add_done_callback(_retrieve)
        future.add_done_callback(self._forget)

    async def finish(self) -> None:
        """Wait until all tasks have ended."""
        while self._running:
            await asyncio.wait(list(self._running))

    async def close(self) -> None:
        """Cancel the running tasks and wait until they have ended."""
        while self._running:
            running = list(self._running)
            for task in running:
                task.cancel()
            await asyncio.wait(running)

    def _forget(self, ended: asyncio.Future[Any]) -> None:
        self._running.pop(ended, None)

    @staticmethod
    def _log_failure(task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task %r failed", task.get_name(), exc_info=error)


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Mark the exception as retrieved; otherwise asyncio logs it when the task is freed."""
    if not future.cancelled():
        future.exception()


async def first_to_end(*works: Coroutine[Any, Any, None]) -> None:
    """Run all until one ends, cancel the others, and raise what that one raised."""
    tasks = [asyncio.ensure_future(each) for each in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if task in done:
            task.result()
