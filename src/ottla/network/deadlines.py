"""When to look at which connection: ten thousand deadlines for the price of one timer.

Each item lies in the bucket of one tick. Looking at it means asking for its real deadline, which
usually has moved on since: then it goes into a later bucket. So a busy connection costs one look
per timeout, however much it sends, and an idle one the same.
"""

from __future__ import annotations

import heapq
import math
from typing import Generic, TypeVar

T = TypeVar("T")


class DeadlineWheel(Generic[T]):
    def __init__(self, tick_s: float) -> None:
        self.tick_s = tick_s
        self._buckets: dict[int, dict[T, None]] = {}
        self._ticks: list[int] = []  # a heap of the buckets' ticks
        self._tick_of: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self._tick_of)

    def watch(self, item: T, deadline_s: float) -> None:
        """See that `item` is looked at by its deadline, and at most a tick later."""
        tick = math.ceil(deadline_s / self.tick_s)
        old = self._tick_of.get(item)
        if old is not None:
            if old <= tick:
                return  # it will be looked at earlier, and asked again then
            del self._buckets[old][item]
        self._tick_of[item] = tick
        if tick not in self._buckets:
            self._buckets[tick] = {}
            heapq.heappush(self._ticks, tick)
        self._buckets[tick][item] = None

    def forget(self, item: T) -> None:
        tick = self._tick_of.pop(item, None)
        if tick is not None:
            del self._buckets[tick][item]

    def take_due(self, now_s: float) -> list[T]:
        """The items to look at now. They are watched again only by a new `watch`."""
        due: list[T] = []
        while self._ticks and self._ticks[0] * self.tick_s <= now_s:
            due.extend(self._buckets.pop(heapq.heappop(self._ticks)))
        for item in due:
            del self._tick_of[item]
        return due
