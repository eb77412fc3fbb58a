"""Who is next, so that all have equal parts of the time and whoever takes little waits for little.

    queue.add(share, item)            # it waits
    item = queue.take()               # the next one; serve it
    queue.charge(share, seconds)      # it took so long

Worst-case fair weighted fair queueing (WF2Q+) with equal weights. Virtual time goes on by the time
served, divided by the number of those who share it. Everybody's turn has a start in virtual time:
now, or when what it was charged before is over, if that is later. Of the turns that have started,
the one is next that is expected to end first. One after the other, a short turn would wait for a
long one of everybody else; here it waits for as much of theirs as it takes itself.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

T = TypeVar("T")

# What is charged at least: those with short turns are served one after the other, whichever of them
# takes a little longer.
CHARGE_S_MIN = 0.0002


class Share:
    """What somebody had, in the virtual time of the queue that it waits in."""

    __slots__ = ("charge_s", "start_s")

    def __init__(self) -> None:
        self.start_s = 0.0  # of its turn, or of its next one
        self.charge_s = CHARGE_S_MIN  # for its last turn: expected for the next one


class FairQueue(Generic[T]):
    def __init__(self) -> None:
        self._virtual_s = 0.0
        self._later: list[tuple[float, int, Share, T]] = []  # by start
        self._started: list[tuple[float, int, Share, T]] = []  # by expected end
        self._numbers = count()  # otherwise equal: first come, first served

    def __len__(self) -> int:
        return len(self._later) + len(self._started)

    def add(self, share: Share, item: T) -> None:
        share.start_s = max(share.start_s, self._virtual_s)
        heappush(self._later, (share.start_s, next(self._numbers), share, item))

    def take(self) -> T:
        later, started = self._later, self._started
        if not started:
            self._virtual_s = max(self._virtual_s, later[0][0])
        while later and later[0][0] <= self._virtual_s:
            start_s, number, share, item = heappop(later)
            heappush(started, (start_s + share.charge_s, number, share, item))
        return heappop(started)[3]

    def charge(self, share: Share, seconds: float) -> None:
        share.charge_s = max(CHARGE_S_MIN, seconds)
        share.start_s += share.charge_s
        self._virtual_s += share.charge_s / (len(self) + 1)
