"""Who waits for a partition: acknowledgements for its high watermark, readers for its data.

Promises  a waiter costs nothing until the partition it waits for changes, or its time is up.
Leaves    what is answered then to the handlers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Protocol

from ottla.replication.fetch_sessions import Watcher


class OffsetWaiters:
    """Futures that are done when an offset is below the high watermark.

    Offsets are handed out in order, so those who wait first are done first.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waiting)

    def wait_for(self, end_offset: int) -> asyncio.Future[None]:
        """Done when everything below `end_offset` is replicated."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((end_offset, future))
        return future

    def reached(self, high_watermark: int) -> None:
        waiting = self._waiting
        while waiting and waiting[0][0] <= high_watermark:
            future = waiting.popleft()[1]
            if not future.done():
                future.set_result(None)

    def fail(self, error: Exception) -> None:
        """The partition is led elsewhere or its disk failed: nobody can be promised anything."""
        while self._waiting:
            future = self._waiting.popleft()[1]
            if not future.done():
                future.set_exception(error)


class Watched(Protocol):
    """Something a reader can wait for."""

    watchers: set[Watcher]


class DataWaiter:
    """A reader that waits until enough bytes have come to any of its partitions."""

    __slots__ = ("_bytes_missing", "_future", "_is_committed", "_watched")

    def __init__(
        self, watched: Iterable[Watched], bytes_missing: int, *, is_committed: bool = False
    ) -> None:
        self._watched = list(watched)
        self._bytes_missing = bytes_missing
        self._is_committed = is_committed  # then only what is stable can be read
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for each in self._watched:
            each.watchers.add(self)

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        self._bytes_missing -= size
        if self._bytes_missing <= 0 and (is_stable or not self._is_committed):
            self.wake()

    def wake(self) -> None:
        """Look again now: leadership, an error or the end of a transaction cannot wait."""
        if not self._future.done():
            self._future.set_result(None)
            self._leave()  # its reader may have left before it began to wait

    async def wait(self, timeout_s: float) -> None:
        """Until data arrived or the time is up."""
        timer = asyncio.get_running_loop().call_later(timeout_s, self.wake)
        try:
            await self._future
        finally:
            timer.cancel()
            self._leave()

    def _leave(self) -> None:
        for each in self._watched:
            each.watchers.discard(self)
