"""Callbacks that run soon, a few of them in each iteration of the event loop.

Promises  they run in order of submission, however many are submitted together: a record that
          thousands of requests wait for does not block the loop until all of them are answered. One
          that raises is logged, and the others run.
Leaves    to the callback that it is short.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from ottla.base.clock import SystemClock

log = logging.getLogger(__name__)

ITERATION_S = 0.003
CALLBACKS_MAX = 256  # per iteration
TASKS_MAX = 32  # the same, if each wakes a task, whose time is not measured here


def untimed() -> float:
    """A clock for callbacks that only wake tasks: their number is the limit."""
    return 0.0


class CallbackQueue:
    """Used from one event loop."""

    __slots__ = ("_callbacks", "_callbacks_max", "_is_scheduled", "_now_s", "_run_at_once")

    def __init__(
        self,
        callbacks_max: int = CALLBACKS_MAX,
        now_s: Callable[[], float] = SystemClock.monotonic_s,
    ) -> None:
        self._callbacks_max = callbacks_max
        self._callbacks: deque[Callable[[], None]] = deque()
        self._now_s = now_s
        self._is_scheduled = False
        self._run_at_once = 0  # in this iteration

    def __len__(self) -> int:
        return len(self._callbacks)

    def add(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)
        self._schedule()

    def run(self, callback: Callable[[], None]) -> None:
        """Run immediately, unless many have run in this iteration, or are waiting."""
        if self._callbacks or self._run_at_once >= self._callbacks_max:
            self.add(callback)
            return
        self._run_at_once += 1
        self._schedule()
        callback()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        self._run_at_once = 0
        callbacks, left, end_s = self._callbacks, self._callbacks_max, self._now_s() + ITERATION_S
        while callbacks and left:
            callback = callbacks.popleft()
            try:
                callback()
            except Exception:
                log.exception("bug in a callback")
            left -= 1
            if self._now_s() >= end_s:
                break
        self._is_scheduled = False
        if callbacks:
            self._schedule()
