"""An event that thousands of requests may wait for: their tasks are woken some at a time.

With an `asyncio.Event`, or a task that all of them await, they would all resume in one iteration of
the event loop, and encode their responses there.
"""

from __future__ import annotations

import asyncio
from functools import partial

from ottla.base.scheduling.callback_queue import TASKS_MAX, CallbackQueue, untimed


class GradualEvent:
    """Happens once, or fails once. Used from one event loop."""

    __slots__ = ("_error", "_has_ended", "_waiting")

    def __init__(self) -> None:
        self._has_ended = False
        self._error: BaseException | None = None
        self._waiting: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        """Return when it has happened, or raise its error."""
        if not self._has_ended:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future
        if self._error is not None:
            raise self._error

    def set(self) -> None:
        """Wake all that wait, in the order in which they came."""
        self._end(None)

    def fail(self, error: BaseException) -> None:
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        self._has_ended, self._error = True, error
        waiting, self._waiting = self._waiting, []
        wake_ups = CallbackQueue(TASKS_MAX, untimed)
        for future in waiting:
            wake_ups.run(partial(_wake, future))


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():  # otherwise its request was cancelled
        future.set_result(None)
