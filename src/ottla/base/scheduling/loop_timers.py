"""Deadlines of waiting requests on one event loop: in one queue, with one timer of the loop.

Promises  a deadline costs an entry in the queue of `timers.py`, and neither a handle nor a callback
          of the loop. Many that expire together are handled in several iterations of the loop.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Protocol

from ottla.base.scheduling.timers import Timers

EXPIRED_AT_ONCE = 500


class Expiring(Protocol):
    def __hash__(self) -> int: ...

    def expire(self) -> None:
        """The deadline has passed. Must be short: many may expire together."""


class LoopTimers:
    """Used from one event loop."""

    def __init__(self) -> None:
        self._timers: Timers[Expiring] = Timers(self._now_ms, self._started)
        self._handle: asyncio.TimerHandle | None = None
        self._wakes_ms = inf  # when the handle is due

    def __len__(self) -> int:
        return len(self._timers)

    def start(self, waiting: Expiring, delay_ms: int) -> None:
        """Call its `expire` after `delay_ms`; replaces an earlier deadline."""
        self._timers.start(waiting, delay_ms + 1)  # `_now_ms` is rounded down

    def cancel(self, waiting: Expiring) -> None:
        self._timers.cancel(waiting)

    @staticmethod
    def _now_ms() -> int:
        return int(asyncio.get_running_loop().time() * 1000)

    def _started(self, at_ms: int) -> None:
        if at_ms < self._wakes_ms:
            self._wake_at(at_ms)

    def _wake_at(self, at_ms: int) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._wakes_ms = at_ms
        self._handle = asyncio.get_running_loop().call_at(at_ms / 1000, self._expire)

    def _expire(self) -> None:
        self._handle, self._wakes_ms = None, inf
        try:
            self._expire_some()
        finally:
            next_ms = self._timers.next_ms
            if next_ms is not None and next_ms < self._wakes_ms:
                self._wake_at(next_ms)

    def _expire_some(self) -> None:
        for _ in range(EXPIRED_AT_ONCE):
            expired = self._timers.take_expired()
            if expired is not None:
                expired.expire()
            elif not self._timers.is_due:
                break
