"""Deadlines by name: sessions, rebalances, whatever a group waits for. Soft state.

Promises  setting a deadline again costs nothing like a new one: members do that with every
          heartbeat. Nothing expires by itself; the owner of the clock asks what has.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
STALE_MAX = 1000  # entries in the queue that are not needed, besides as many as are


def ignore(_at_ms: int) -> None: ...


class Timers(Generic[K]):
    """`now_ms` is any clock that never goes back; `started` gets the time of a new entry."""

    def __init__(self, now_ms: Callable[[], int], started: Callable[[int], None] = ignore) -> None:
        self._now_ms = now_ms
        self._started = started
        self._deadlines: dict[K, int] = {}
        # At least one entry at or before each deadline. Entries that a later deadline has
        # overtaken are moved when their time comes.
        self._queue: list[tuple[int, int, K]] = []
        self._queued: dict[K, int] = {}  # the earliest entry of each
        self._count = 0  # equal times expire in the order in which they were set

    def __len__(self) -> int:
        return len(self._deadlines)

    def __contains__(self, key: K) -> bool:
        return key in self._deadlines

    def start(self, key: K, delay_ms: int) -> None:
        """Expire after `delay_ms` from now, whatever was set before."""
        deadline = self._now_ms() + delay_ms
        self._deadlines[key] = deadline
        queued = self._queued.get(key)
        if queued is None or deadline < queued:
            self._enqueue(deadline, key)

    def start_if_absent(self, key: K, delay_ms: int) -> None:
        if key not in self._deadlines:
            self.start(key, delay_ms)

    def cancel(self, key: K) -> None:
        if self._deadlines.pop(key, None) is not None:
            stale = len(self._queue) - 2 * len(self._deadlines)
            if stale > STALE_MAX:
                self._compact()

    def clear(self) -> None:
        self._deadlines.clear()
        self._queue.clear()
        self._queued.clear()

    @property
    def next_ms(self) -> int | None:
        """When to look again; nothing expires before."""
        return self._queue[0][0] if self._queue else None

    def take_expired(self) -> K | None:
        """The next whose time has come, which is then forgotten; None while there is none."""
        now_ms = self._now_ms()
        while self._queue and self._queue[0][0] <= now_ms:
            entry, _, key = heappop(self._queue)
            if self._queued.get(key) == entry:
                del self._queued[key]
            deadline = self._deadlines.get(key)
            if deadline is None:
                continue
            if deadline <= now_ms:
                del self._deadlines[key]
                return key
            if key not in self._queued:
                self._enqueue(deadline, key)
        return None

    def _compact(self) -> None:
        """Cancelled deadlines leave entries until their time comes: they may be many."""
        live = self._deadlines
        self._queue = [each for each in self._queue if each[2] in live]
        heapify(self._queue)
        self._queued = {key: at for key, at in self._queued.items() if key in live}

    def _enqueue(self, deadline: int, key: K) -> None:
        self._count += 1
        self._queued[key] = deadline
        heappush(self._queue, (deadline, self._count, key))
        self._started(deadline)
