"""Long work on the event loop, in slices: one slice in each turn of the loop, whoever's it is.

    def describing(topics: Iterable[Topic]) -> Slices[list[Description]]:
        described = []
        for topic in topics:
            described.append(describe(topic))
            yield DESCRIPTION_BYTES        # by how much the result has grown; 0 where it has not
        return described

    described = await turns.run(describing(topics))

Owns      when a slice ends, and whose slice is next.
Promises  however many long works there are, all of them together keep the loop no longer than one
          slice in a turn, besides the first slices of those that have just come, which are bounded,
          too, and what the longest of them does between two yields. They take turns in the order
          in which they came; every second turn is for work that has had none.
Leaves    to the work that it does little between two yields, and that whatever it looks at may
          change at each of them. What the yielded numbers mean is the caller's business.

A generator, not a coroutine: short work, which is nearly all, then costs neither a task nor a turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from typing import Generic, TypeAlias, TypeVar

from ottla.base.clock import Clock
from ottla.base.collector import without_full_pass

T = TypeVar("T")
Slices: TypeAlias = Generator[int, None, T]

FIRST_SLICE_S = 0.001  # at once, when the work comes
FIRST_SLICES_S = 0.004  # of all works that come in one turn; the others wait for their turn
SHORT_S = 0.000_1  # a first slice that takes less is not counted: ordinary requests take as long
SLICE_S = 0.004
CHUNK_ITEMS = 1000  # that C code handles between two yields


class Work(Generic[T]):
    """Work that has begun, and its result once it is done."""

    __slots__ = ("_slices", "grown", "is_new", "result")

    result: T

    def __init__(self, slices: Slices[T]) -> None:
        self._slices = slices
        self.grown = 0  # the sum of what was yielded
        self.is_new = True  # has not had a slice

    def run_until(self, end_s: float, now_s: Callable[[], float]) -> bool:
        """Go on for a slice, at least to the next yield. Whether the work is done."""
        slices, self.is_new = self._slices, False
        try:
            while True:
                self.grown += next(slices)
                if now_s() >= end_s:
                    return False
        except StopIteration as end:
            self.result = end.value
            return True

    def close(self) -> None:
        """Give up what is not done."""
        self._slices.close()


class Turns:
    """All long work of one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._now_s = clock.monotonic_s
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._new: deque[asyncio.Future[None]] = deque()  # of work that has had no slice yet
        self._is_for_new = False
        self._is_scheduled = False
        self._begun_s = 0.0  # spent on first slices in this turn

    def begin(self, slices: Slices[T]) -> tuple[Work[T], bool]:
        """Run the first, short slice here and now, if this turn of the loop has time left for it;
        whether it was all."""
        work = Work(slices)
        if self._begun_s >= FIRST_SLICES_S:
            return work, False
        began_s = self._now_s()
        is_done = work.run_until(began_s + FIRST_SLICE_S, self._now_s)
        seconds = self._now_s() - began_s
        if seconds >= SHORT_S:
            self._spend(seconds)
        return work, is_done

    def _spend(self, seconds: float) -> None:
        if not self._begun_s:
            asyncio.get_running_loop().call_soon(self._begin_turn)
        self._begun_s += seconds

    def _begin_turn(self) -> None:
        self._begun_s = 0.0

    async def go_on(self, work: Work[T]) -> bool:
        """Run the next slice when its turn has come. Whether the work is done."""
        await self.next(is_new=work.is_new)
        return work.run_until(self._now_s() + SLICE_S, self._now_s)

    async def run(self, slices: Slices[T]) -> T:
        """The result, after as many turns as it takes."""
        work, is_done = self.begin(slices)
        return work.result if is_done else await self.finish(work)

    async def run_later(self, slices: Slices[T]) -> T:
        """As `run`, without the first slice at once: for work that may come many times together."""
        return await self.finish(Work(slices))

    async def finish(self, work: Work[T]) -> T:
        """The rest of what was begun."""
        try:
            with without_full_pass():  # long work makes many objects
                while not await self.go_on(work):
                    pass
        finally:
            work.close()
        return work.result

    async def next(self, *, is_new: bool = False) -> None:
        """Until it is the caller's turn to run a slice."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        (self._new if is_new else self._waiting).append(turn)
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_soon(self._wake_one)
        await turn

    def _wake_one(self) -> None:
        """Whoever is woken runs in the loop's next turn, and so does this.

        Every second turn is for work that is new: most of it needs one slice, and does not wait
        for all that need many.
        """
        self._is_for_new = not self._is_for_new
        lines = (self._new, self._waiting) if self._is_for_new else (self._waiting, self._new)
        turn = first_of(lines[0]) or first_of(lines[1])
        if turn is not None:
            turn.set_result(None)
            asyncio.get_running_loop().call_soon(self._wake_one)
        else:
            self._is_scheduled = False


def first_of(waiting: deque[asyncio.Future[None]]) -> asyncio.Future[None] | None:
    """Taken from those that wait, without those whose owner was cancelled."""
    while waiting:
        turn = waiting.popleft()
        if not turn.done():
            return turn
    return None


def set_of(items: Iterable[T]) -> Slices[set[T]]:
    """The distinct items: a million of them take a tenth of a second, so not all at once."""
    distinct: set[T] = set()
    left = iter(items)
    while some := list(islice(left, CHUNK_ITEMS)):
        distinct.update(some)
        yield 0
    return distinct


def run_at_once(slices: Slices[T]) -> T:
    """All of it without a pause: for tests, tools and threads."""
    try:
        while True:
            next(slices)
    except StopIteration as end:
        result: T = end.value
        return result
