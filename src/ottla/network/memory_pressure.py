"""When to look for connections whose memory others need.

Promises  at every tick, and at once when a memory is overfull. A tick that comes late is left out,
          once: while the event loop stood still, nobody was read, and all would look slow.
Leaves    whom to close to the memories.
"""

from __future__ import annotations

import asyncio

from ottla.network.request_memory import RequestMemory
from ottla.network.response_memory import ResponseMemory

LATE_S = 1.0
IN_VAIN_S = 0.25  # before the next look, if the last one closed nobody


class MemoryPressure:
    def __init__(self, requests: RequestMemory, responses: ResponseMemory, tick_s: float) -> None:
        self._requests = requests
        self._responses = responses
        self._tick_s = tick_s
        self._due_s: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_scheduled = False
        self._next_s = 0.0  # of a look in between

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._requests.overfull = self._responses.overfull = self._overfull

    def tick(self, now_s: float) -> None:
        is_late = self._due_s is not None and now_s > self._due_s + LATE_S
        self._due_s = None if is_late else now_s + self._tick_s
        if not is_late:
            self._requests.evict(now_s)
            self._responses.evict(now_s)

    def _overfull(self) -> None:
        """Not now: this may be in the middle of a connection's turn."""
        assert self._loop is not None
        if not self._is_scheduled and self._loop.time() >= self._next_s:
            self._is_scheduled = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        assert self._loop is not None
        self._is_scheduled = False
        now_s = self._loop.time()
        if not self._requests.evict(now_s) + self._responses.evict(now_s):
            self._next_s = now_s + IN_VAIN_S
