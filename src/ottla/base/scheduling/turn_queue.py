"""Callbacks that run soon, a few of them in each turn of the event loop.

Promises  they run in the order in which they came, however many come together: a record that
          thousands of requests wait for does not keep the loop until all of them are answered.
          One that raises is logged, and the others run.
Leaves    to the callback that it is short.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from time import monotonic

log = logging.getLogger(__name__)

# In one turn. The number holds for callbacks that only wake a task, which runs in the next turn.
CALLBACKS_MAX = 32
TURN_S = 0.002


class TurnQueue:
    """Used from one event loop."""

    __slots__ = ("_callbacks", "_is_scheduled")

    def __init__(self) -> None:
        self._callbacks: deque[Callable[[], None]] = deque()
        self._is_scheduled = False

    def __len__(self) -> int:
        return len(self._callbacks)

    def add(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        callbacks, left, end_s = self._callbacks, CALLBACKS_MAX, monotonic() + TURN_S
        while callbacks and left:
            callback = callbacks.popleft()
            try:
                callback()
            except Exception:
                log.exception("bug in a callback")
            left -= 1
            if monotonic() >= end_s:
                break
        self._is_scheduled = bool(callbacks)
        if callbacks:
            asyncio.get_running_loop().call_soon(self._run)
