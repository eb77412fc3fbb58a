"""Deadlines by key, in one priority queue.

Promises  extending a deadline only stores it: the queue entry is moved when it reaches the head. A
          cancelled or expired key is released at once. Stale queue entries are removed a few with
          each call, however many timers there are. Nothing expires by itself: the owner of the
          clock calls `take_expired` while `is_due`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
STALE_MAX = 1000  # stale queue entries, in addition to twice the number of timers
MOVED_AT_ONCE = 4  # entries of a queue with many stale ones
PASSED_AT_ONCE = 10  # stale entries that one call of `take_expired` removes

Entry = tuple[int, int, "_Timer[K]"]


def ignore(_at_ms: int) -> None: ...


class _Timer(Generic[K]):
    __slots__ = ("deadline_ms", "key", "queued_ms")

    def __init__(self, key: K, deadline_ms: int) -> None:
        self.key: K | None = key  # None once it has expired or was cancelled
        self.deadline_ms = deadline_ms
        self.queued_ms = deadline_ms  # of its queue entry, never later than the deadline


class Timers(Generic[K]):
    """`now_ms` is a monotonic clock; `started` is called with the time of each new queue entry."""

    def __init__(self, now_ms: Callable[[], int], started: Callable[[int], None] = ignore) -> None:
        self._now_ms = now_ms
        self._started = started
        self._timers: dict[K, _Timer[K]] = {}
        # One entry per timer, and stale ones: with an earlier deadline, or of a timer without a
        # key.
        self._queue: list[Entry[K]] = []
        # A queue that has had too many stale ones, whose entries move to the other one.
        self._old_queue: list[Entry[K]] = []
        self._count = 0  # equal times expire in the order in which they were set

    def __len__(self) -> int:
        return len(self._timers)

    def __contains__(self, key: K) -> bool:
        return key in self._timers

    def start(self, key: K, delay_ms: int) -> None:
        """Expire after `delay_ms` from now; replaces an earlier deadline of the key."""
        deadline_ms = self._now_ms() + delay_ms
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = _Timer(key, deadline_ms)
            self._enqueue(timer)
        else:
            timer.deadline_ms = deadline_ms
            if deadline_ms < timer.queued_ms:
                self._enqueue(timer)
        self._limit_stale()

    def start_if_absent(self, key: K, delay_ms: int) -> None:
        if key not in self._timers:
            self.start(key, delay_ms)

    def cancel(self, key: K) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.key = None
            self._limit_stale()

    def clear(self) -> None:
        self._timers.clear()
        self._queue.clear()
        self._old_queue.clear()

    @property
    def next_ms(self) -> int | None:
        """The time of the next call of `take_expired`: nothing expires before it."""
        first = self._first_queue()
        return first[0][0] if first else None

    @property
    def is_due(self) -> bool:
        """Whether `take_expired` must be called now."""
        next_ms = self.next_ms
        return next_ms is not None and next_ms <= self._now_ms()

    def take_expired(self) -> K | None:
        """Remove and return the key that expired first. None if none has, and if many stale entries
        were removed: then others may be due."""
        now_ms = self._now_ms()
        for _ in range(PASSED_AT_ONCE):
            queue = self._first_queue()
            if not queue or queue[0][0] > now_ms:
                break
            queued_ms, _, timer = heappop(queue)
            key = timer.key
            if key is None or queued_ms != timer.queued_ms:
                continue
            if timer.deadline_ms <= now_ms:
                del self._timers[key]
                timer.key = None
                return key
            self._enqueue(timer)
        return None

    def _enqueue(self, timer: _Timer[K]) -> None:
        self._count += 1
        timer.queued_ms = timer.deadline_ms
        heappush(self._queue, (timer.queued_ms, self._count, timer))
        self._started(timer.queued_ms)

    def _first_queue(self) -> list[Entry[K]]:
        """The one whose first entry is due first."""
        new, old = self._queue, self._old_queue
        return old if old and (not new or old[0][:2] < new[0][:2]) else new

    def _limit_stale(self) -> None:
        old = self._old_queue
        if old:
            for _ in range(min(MOVED_AT_ONCE, len(old))):
                entry = old.pop()  # the rest is still a heap
                if _is_current(entry):
                    heappush(self._queue, entry)
        elif len(self._queue) > 2 * len(self._timers) + STALE_MAX:
            self._old_queue, self._queue = self._queue, []


def _is_current(entry: Entry[K]) -> bool:
    queued_ms, _, timer = entry
    return timer.key is not None and queued_ms == timer.queued_ms
