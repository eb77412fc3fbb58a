"""Waiters for an offset of a partition: acknowledgements, for its high watermark or a sync.

Promises  a waiter costs nothing until its offset is reached or its timeout expires.
Leaves    the responses to the handlers, timeouts to their callers.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import deque
from collections.abc import Callable
from operator import attrgetter

CALLED_AT_ONCE = 200  # waiters of one partition

Done = Callable[[Exception | None], None]
END_OFFSET = attrgetter("end_offset")


class OffsetWaiter:
    """A waiter for an offset."""

    __slots__ = ("done", "end_offset")

    def __init__(self, end_offset: int, done: Done) -> None:
        self.end_offset = end_offset
        self.done: Done | None = done  # None once it has left


class OffsetWaiters:
    """Callbacks for offsets below the high watermark, lowest offset first.

    Nearly all are added in this order: only a request with very many partitions registers its
    appends after later ones of other requests. A cancelled waiter is removed at the ends of the
    queue; from the middle once half of the queue is cancelled. A follower or a disk that was slow
    may reach the offsets of very many at once: some are called in each iteration of the event
    loop.
    """

    __slots__ = ("_cancelled", "_is_calling", "_reached", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[OffsetWaiter] = deque()
        self._cancelled = 0  # waiters that are still in the queue
        self._reached = -1  # the largest high watermark
        self._is_calling = False  # in the next iteration of the event loop

    def __bool__(self) -> bool:
        """Whether there are waiters."""
        return bool(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting) - self._cancelled

    @property
    def queued(self) -> int:
        """How many are in the queue, those included that have left."""
        return len(self._waiting)

    def add(self, end_offset: int, done: Done) -> OffsetWaiter:
        """Call `done` when everything below `end_offset` is replicated, or never will be."""
        waiter, waiting = OffsetWaiter(end_offset, done), self._waiting
        if waiting and end_offset < waiting[-1].end_offset:
            insort(waiting, waiter, key=END_OFFSET)
        else:
            waiting.append(waiter)
        return waiter

    def remove(self, waiter: OffsetWaiter) -> None:
        """Do not call the waiter any more. No effect if it was called already."""
        if waiter.done is None:
            return
        waiter.done = None
        self._cancelled += 1
        self._trim()

    def _trim(self) -> None:
        waiting = self._waiting
        while waiting and waiting[0].done is None:
            waiting.popleft()
            self._cancelled -= 1
        while waiting and waiting[-1].done is None:
            waiting.pop()
            self._cancelled -= 1
        if 2 * self._cancelled > len(waiting):
            self._waiting = deque(each for each in waiting if each.done is not None)
            self._cancelled = 0

    async def wait_for(self, end_offset: int) -> None:
        """As `add`, for a waiter with its own task."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(error: Exception | None) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        waiter = self.add(end_offset, done)
        try:
            await future
        finally:
            self.remove(waiter)

    def reached(self, high_watermark: int) -> None:
        self._reached = high_watermark
        if not self._is_calling:
            self._call_some()

    def _call_some(self) -> None:
        left, self._is_calling = CALLED_AT_ONCE, False
        while self._has_reached_first:
            if not left:
                self._is_calling = True
                asyncio.get_running_loop().call_soon(self._call_some)
                return
            self._call_first(None)
            left -= 1
        if self._cancelled:
            self._trim()

    @property
    def _has_reached_first(self) -> bool:
        waiting = self._waiting
        return bool(waiting) and waiting[0].end_offset <= self._reached

    def fail(self, error: Exception) -> None:
        """The partition has another leader or its disk failed: fail all waiters, except those that
        are about to be called."""
        while self._is_calling and self._has_reached_first:
            self._call_first(None)
        while self._waiting:
            self._call_first(error)

    def _call_first(self, error: Exception | None) -> None:
        waiter = self._waiting.popleft()
        done, waiter.done = waiter.done, None
        if done is None:
            self._cancelled -= 1
        else:
            done(error)
