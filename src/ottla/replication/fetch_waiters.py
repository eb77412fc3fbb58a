"""Fetches that wait for data of partitions, and notifying them.

Promises  a waiting fetch costs nothing until one of its partitions changes or its timeout expires.
Leaves    what a notified fetch reads and sends to the handlers, when to notify to
          `fetch_notifications.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol

from ottla.base.scheduling.callback_queue import CallbackQueue
from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.replication.fetch_sessions import Watcher

NOT_KNOWN_YET = 2**63  # bytes: more than can be appended during one read
UNREGISTERED_AT_ONCE = 100  # partitions that a fetch unregisters from at a time
OF_MANY_AT_ONCE = 50  # fetches of one partition that are notified at a time


class Watchable(Protocol):
    """Something that a fetch can wait for."""

    watchers: dict[Watcher, None]  # in the order in which they began to wait


class DataWaiter:
    """A fetch that waits until enough bytes were appended to any of its partitions.

    Its task is woken by `wake_ups`: a record may end the wait of thousands of fetches.
    """

    __slots__ = (
        "_bytes_missing",
        "_future",
        "_is_committed",
        "_is_woken",
        "_timers",
        "_wake_ups",
        "_watched",
    )

    def __init__(
        self,
        watched: Iterable[Watchable],
        bytes_missing: int,
        timers: LoopTimers,
        wake_ups: CallbackQueue,
        *,
        is_committed: bool = False,
    ) -> None:
        self._timers = timers
        self._wake_ups = wake_ups
        self._is_woken = False
        self._watched = list(watched)
        self._bytes_missing = bytes_missing
        self._is_committed = is_committed  # only stable data is readable
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for each in self._watched:
            each.watchers[self] = None

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        self._bytes_missing -= size
        if self._bytes_missing <= 0 and (is_stable or not self._is_committed):
            self.wake()

    def wake(self) -> None:
        """Read again now: a change of leadership, an error or the end of a transaction must be
        sent at once."""
        if not self._is_woken:
            self._is_woken = True
            self._leave()  # the client may have disconnected before the wait began
            self._wake_ups.run(self._wake_task)

    def expire(self) -> None:
        self.wake()

    async def wait(self, timeout_ms: int) -> None:
        """Wait until data arrives or the timeout expires."""
        if not self._is_woken:
            self._timers.start(self, timeout_ms)
        try:
            await self._future
        finally:
            self._is_woken = True
            self._timers.cancel(self)
            self._leave()

    def _wake_task(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    def _leave(self) -> None:
        leave(self, self._watched)


class LargeWaiter:
    """A fetch with so many partitions that it registers with them in slices, and once for all its
    waits.

        waiter.begin()              # from here on, appended data counts for the next wait
        ...                         # reads all partitions, in slices
        waiter.expect(missing)      # bytes that end the wait, including those that have arrived
        await waiter.wait(left_s, pause_s)

    Bytes that arrive at a partition before it is read count twice: the fetch may then read again
    too early, but never too late.
    """

    __slots__ = ("_bytes_missing", "_has_readable", "_is_committed", "_wake_up", "_watched")

    def __init__(self, *, is_committed: bool) -> None:
        self._watched: list[Watchable] = []
        self._is_committed = is_committed
        self._bytes_missing = NOT_KNOWN_YET
        self._has_readable = False  # readable data has arrived
        self._wake_up = asyncio.Event()

    def join(self, watched: Watchable) -> None:
        self._watched.append(watched)
        watched.watchers[self] = None

    def begin(self) -> None:
        self._bytes_missing = NOT_KNOWN_YET
        self._has_readable = False
        self._wake_up.clear()

    def expect(self, bytes_missing: int) -> None:
        self._bytes_missing += bytes_missing - NOT_KNOWN_YET
        self._wake_if_enough()

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        self._bytes_missing -= size
        if is_stable or not self._is_committed:
            self._has_readable = True
            self._wake_if_enough()

    def _wake_if_enough(self) -> None:
        if self._has_readable and self._bytes_missing <= 0:
            self.wake()

    def wake(self) -> None:
        self._wake_up.set()

    async def wait(self, timeout_s: float, pause_s: float = 0) -> None:
        """Wait until data arrives, at least for a pause, or until the timeout expires."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + min(pause_s, timeout_s)
        timer = loop.call_later(timeout_s, self.wake)
        try:
            await self._wake_up.wait()
        finally:
            timer.cancel()
        if (left_s := end_s - loop.time()) > 0:
            await asyncio.sleep(left_s)

    def close(self) -> None:
        leave(self, self._watched)


def leave(watcher: Watcher, watched: list[Watchable]) -> None:
    """Unregister from many partitions, some in each of the next iterations of the event loop."""
    for _ in range(min(UNREGISTERED_AT_ONCE, len(watched))):
        watched.pop().watchers.pop(watcher, None)
    if watched:
        asyncio.get_running_loop().call_soon(leave, watcher, watched)


def notify(watcher: Watcher, size: int | None, *, is_stable: bool) -> None:
    if size is None:
        watcher.wake()
    else:
        watcher.data_arrived(size, is_stable=is_stable)


class ManyWatchers:
    """Very many fetches that wait for one partition: a few are notified in each iteration of the
    event loop. What is appended meanwhile, they are notified of together."""

    __slots__ = ("_is_stable", "_left", "_pending", "_size", "_watchers")

    def __init__(self, watchers: dict[Watcher, None]) -> None:
        self._watchers = watchers
        self._left: list[Watcher] = []  # to be notified of the change below, the first at the end
        self._size: int | None = 0
        self._is_stable = False
        self._pending: tuple[int | None, bool] | None = None  # changes since, together

    @property
    def is_idle(self) -> bool:
        return not self._left and self._pending is None

    def notify(self, size: int | None, *, is_stable: bool) -> None:
        if self._pending is not None:
            earlier, was_stable = self._pending
            size = None if size is None or earlier is None else size + earlier
            is_stable |= was_stable
        self._pending = size, is_stable
        if not self._left:
            self._begin()

    def _begin(self) -> None:
        if self._pending is not None:
            (self._size, self._is_stable), self._pending = self._pending, None
            self._left = list(reversed(self._watchers))
            asyncio.get_running_loop().call_soon(self._notify_some)

    def _notify_some(self) -> None:
        left = self._left
        for watcher in reversed(left[-OF_MANY_AT_ONCE:]):
            notify(watcher, self._size, is_stable=self._is_stable)
        del left[-OF_MANY_AT_ONCE:]
        if left:
            asyncio.get_running_loop().call_soon(self._notify_some)
        else:
            self._begin()


class ParkedFetches:
    """The limit on partitions in waiting fetches, over all connections.

    Partitions of a session are counted in its own limit.
    """

    __slots__ = ("partitions", "partitions_max")

    def __init__(self, partitions_max: int) -> None:
        self.partitions = 0
        self.partitions_max = partitions_max

    def has_room(self, partitions: int) -> bool:
        return self.partitions + partitions <= self.partitions_max

    def add(self, partitions: int) -> None:
        """A fetch of these partitions begins to wait."""
        self.partitions += partitions

    def remove(self, partitions: int) -> None:
        self.partitions -= partitions
