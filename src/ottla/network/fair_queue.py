"""A fair queue: waiting items get equal parts of the time, and short ones wait for little.

    queue.add(share, item)            # it waits
    item = queue.take()               # the next one; serve it
    queue.charge(share, seconds)      # serving it took this long

Worst-case fair weighted fair queueing (WF2Q+) with equal weights. Virtual time advances by the time
served, divided by the number of those that share it. The service of an item starts, in virtual
time, now, or at the end of what its share was charged before, if that is later. Of the items whose
service has started, the one that is expected to end first is next. With plain round robin, a short
service would wait for a long one of every other item; here it waits for as much of their time as
it takes itself.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

T = TypeVar("T")

# The least charge: items with short services are served in round robin, even if one of them takes
# slightly longer than another.
CHARGE_S_MIN = 0.0002


class Share:
    """The time charged to one waiter, in the virtual time of its queue."""

    __slots__ = ("charge_s", "start_s")

    def __init__(self) -> None:
        self.start_s = 0.0  # of its service, or of its next one
        self.charge_s = CHARGE_S_MIN  # for its last service: expected for the next one


class FairQueue(Generic[T]):
    def __init__(self) -> None:
        self._virtual_s = 0.0
        self._later: list[tuple[float, int, Share, T]] = []  # by start
        self._started: list[tuple[float, int, Share, T]] = []  # by expected end
        self._numbers = count()  # ties: first in, first out

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
