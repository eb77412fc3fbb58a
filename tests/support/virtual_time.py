"""An event loop on which time passes only when nothing else is left to do.

A story that takes hours of such time runs in milliseconds, and always in the same order.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")


class Deadlock(AssertionError):
    """Nothing is scheduled, and the story has not ended."""


class _VirtualSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.overshoot_s = 0.0  # how late a timer is, as with every real clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Deadlock
        if timeout > 0:
            self.now_s += timeout + self.overshoot_s
        return []  # no sockets: nothing outside this process is waited for


class _NumberedTask(asyncio.Task[T]):
    """asyncio keeps tasks and futures in sets, and cancels them in the order of these: by address,
    unless they have a hash of their own."""

    number = 0

    def __hash__(self) -> int:
        return self.number


class _NumberedFuture(asyncio.Future[T]):
    number = 0

    def __hash__(self) -> int:
        return self.number


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        self._numbers = count(1)
        super().__init__(self._virtual)
        self.set_task_factory(lambda _loop, coro, **options: self.new_task(coro, **options))

    def new_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        task: _NumberedTask[Any] = _NumberedTask(coro, loop=self, **options)
        task.number = next(self._numbers)
        return task

    def create_future(self) -> asyncio.Future[Any]:
        future: _NumberedFuture[Any] = _NumberedFuture(loop=self)
        future.number = next(self._numbers)
        return future

    def time(self) -> float:
        return self._virtual.now_s


def run_in_virtual_time(story: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(story)
