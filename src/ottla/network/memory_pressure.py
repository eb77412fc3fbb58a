"""When connections are evicted because others need their memory.

Promises  at every tick, and at once when a memory is overfull; many in several iterations of the
          event loop. The first tick after a long stop of the event loop is left out: no client was
          read meanwhile, so all would seem slow.
Leaves    which connections to the memories.
"""

from __future__ import annotations

import asyncio

from ottla.network.request_memory import RequestMemory
from ottla.network.response_memory import ResponseMemory

LATE_S = 1.0
RETRY_S = 0.25  # after an eviction that closed no connection


class MemoryPressure:
    def __init__(self, requests: RequestMemory, responses: ResponseMemory, tick_s: float) -> None:
        self._requests = requests
        self._responses = responses
        self._tick_s = tick_s
        self._due_s: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_scheduled = False
        self._next_s = 0.0  # of an eviction between ticks

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._requests.when_overfull(self._schedule_eviction)
        self._responses.when_overfull(self._schedule_eviction)

    def tick(self, now_s: float) -> None:
        is_late = self._due_s is not None and now_s > self._due_s + LATE_S
        self._due_s = None if is_late else now_s + self._tick_s
        if not is_late:
            self._evict_some(now_s)

    def _schedule_eviction(self) -> None:
        assert self._loop is not None
        if self._loop.time() >= self._next_s:
            self._evict_soon(self._loop)

    def _evict_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Later: the caller may be in the middle of an update of a connection."""
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_soon(self._evict)

    def _evict(self) -> None:
        assert self._loop is not None
        self._is_scheduled = False
        now_s = self._loop.time()
        if not self._evict_some(now_s):
            self._next_s = now_s + RETRY_S

    def _evict_some(self, now_s: float) -> int:
        count = self._requests.evict(now_s) + self._responses.evict(now_s)
        if self._loop is not None and (self._requests.is_evicting or self._responses.is_evicting):
            self._evict_soon(self._loop)
        return count
