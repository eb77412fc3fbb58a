"""Which bytes of a segment are known to be what was written, since this process opened it.

Owns      a sorted list of position ranges that do not touch.
Promises  bounded memory: when there are too many ranges, the smallest one is dropped.
Leaves    reading and checking to `scanning.py`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

RANGES_MAX = 1024


class VerifiedRanges:
    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def covers(self, start: int, end: int) -> bool:
        at = bisect_right(self._starts, start) - 1
        return at >= 0 and end <= self._ends[at]

    def unverified_from(self, start: int) -> int:
        """The first position from `start` on that is not verified."""
        at = bisect_right(self._starts, start) - 1
        return max(start, self._ends[at]) if at >= 0 else start

    def add(self, start: int, end: int) -> None:
        starts, ends = self._starts, self._ends
        if ends and ends[-1] == start:  # appending, which is nearly always so
            ends[-1] = end
            return
        if start >= end:
            return
        first = bisect_left(ends, start)
        last = bisect_right(starts, end)
        if first < last:
            start, end = min(start, starts[first]), max(end, ends[last - 1])
        starts[first:last], ends[first:last] = [start], [end]
        if len(starts) > RANGES_MAX:
            self._forget_smallest()

    def cut(self, end: int) -> None:
        """Remove everything from `end` on."""
        keep = bisect_left(self._starts, end)
        del self._starts[keep:], self._ends[keep:]
        if keep and self._ends[-1] > end:
            self._ends[-1] = end

    def clear(self) -> None:
        self._starts.clear()
        self._ends.clear()

    def _forget_smallest(self) -> None:
        sizes = [end - start for start, end in zip(self._starts, self._ends, strict=True)]
        smallest = sizes.index(min(sizes))
        del self._starts[smallest], self._ends[smallest]
