"""Steps on the event loop: pauses in slices, one slice in each turn of the loop; jobs in threads.

    described = await turns.run(describing(topics))     # `describing` returns `Steps`

Owns      when a slice ends, and whose slice is next.
Promises  however many long works there are, all of them together keep the loop no longer than one
          slice in a turn, besides the first slices of those that have just come, which are bounded,
          too, and what the longest of them does between two yields. They take turns in the order
          in which they came; every second turn is for work that has had none. What comes after a
          job counts as a first slice.
Leaves    to the work that it does little between two yields, and that whatever it looks at may
          change at each of them.

A generator, not a coroutine: short work, which is nearly all, then costs neither a task nor a turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from ottla.base.clock import Clock
from ottla.base.collector import without_full_pass
from ottla.base.steps import PAUSE, Job, Steps
from ottla.base.threads import Threads

T = TypeVar("T")
log = logging.getLogger(__name__)

FIRST_SLICE_S = 0.001  # at once, when the work comes
FIRST_SLICES_S = 0.004  # of all works that come in one turn; the others wait for their turn
SHORT_S = 0.000_1  # a first slice that takes less is not counted: ordinary requests take as long
SLICE_S = 0.004
CHUNK_ITEMS = 1000  # that C code handles between two yields


class Work(Generic[T]):
    """Steps that have begun, and their result once they are done."""

    __slots__ = ("_error", "_outcome", "_steps", "_threads", "grown", "is_new", "job", "result")

    result: T
    _outcome: Any  # of the last job, unless it has failed
    _error: BaseException | None

    def __init__(self, steps: Steps[T], threads: Threads) -> None:
        self._steps = steps
        self._threads = threads  # for its jobs
        self.grown = 0  # the sum of the ints that were yielded
        self.is_new = True  # has not had a slice
        self.job: Job | None = None  # what a thread has to do next

    def run_until(self, end_s: float, now_s: Callable[[], float]) -> bool:
        """Go on for a slice, at least to the next yield, or up to a job. Whether all is done."""
        steps, self.is_new = self._steps, False
        try:
            step = next(steps) if self.job is None else self._resume()
            while type(step) is int:
                self.grown += step
                if now_s() >= end_s:
                    return False
                step = next(steps)
        except StopIteration as end:
            self.result = end.value
            return True
        self.job = step  # type: ignore[assignment]  # whatever is no int
        return False

    def _resume(self) -> int | Job:
        """With the outcome of the job."""
        self.job = None
        outcome, error = self._outcome, self._error
        self._outcome = self._error = None  # so that nobody keeps them
        try:
            return self._steps.send(outcome) if error is None else self._steps.throw(error)
        finally:
            del outcome, error  # which knows this frame

    async def run_job(self) -> None:
        assert self.job is not None
        self._outcome = self._error = None
        try:
            self._outcome = await self._threads.run(self.job)
        except Exception as error:
            self._error = error

    def close(self) -> None:
        """Give up what is not done."""
        self._steps.close()


class Turns:
    """All long work of one event loop. Its jobs run in the threads for requests, but for those of
    a `Lane`."""

    def __init__(self, clock: Clock, threads: Threads | None = None) -> None:
        self.threads = threads or Threads()  # for jobs
        self._now_s = clock.monotonic_s
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._new: deque[asyncio.Future[None]] = deque()  # of work that has had no slice yet
        self._is_for_new = False
        self._is_scheduled = False
        self._begun_s = 0.0  # spent on first slices in this turn

    def in_thread(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """What a single job returns."""
        return self.threads.run(job)

    def begin(self, steps: Steps[T]) -> tuple[Work[T], bool]:
        """Run the first, short slice here and now, if this turn of the loop has time left for it;
        whether it was all."""
        work = Work(steps, self.threads)
        if self._begun_s >= FIRST_SLICES_S:
            return work, False
        return work, self._run_short(work)

    def _run_short(self, work: Work[T]) -> bool:
        began_s = self._now_s()
        is_done = work.run_until(began_s + FIRST_SLICE_S, self._now_s)
        seconds = self._now_s() - began_s
        if seconds >= SHORT_S:
            self._spend(seconds)
        return is_done

    def _spend(self, seconds: float) -> None:
        if not self._begun_s:
            asyncio.get_running_loop().call_soon(self._begin_turn)
        self._begun_s += seconds

    def _begin_turn(self) -> None:
        self._begun_s = 0.0

    async def go_on(self, work: Work[T]) -> bool:
        """Run the next slice when its turn has come, or its job is done. Whether all is done."""
        if work.job is not None:
            await work.run_job()
            if self._begun_s < FIRST_SLICES_S:
                return self._run_short(work)
        await self.next_turn(is_new=work.is_new)
        return work.run_until(self._now_s() + SLICE_S, self._now_s)

    async def run(self, steps: Steps[T]) -> T:
        """The result, after as many turns as it takes."""
        work, is_done = self.begin(steps)
        return work.result if is_done else await self.finish(work)

    async def run_work(self, work: Work[T]) -> T:
        """As `run`, of a `Lane`."""
        if self._begun_s < FIRST_SLICES_S and self._run_short(work):
            return work.result
        return await self.finish(work)

    async def run_later(self, steps: Steps[T]) -> T:
        """As `run`, without the first slice at once: for work that may come many times together."""
        return await self.finish(Work(steps, self.threads))

    async def finish(self, work: Work[T]) -> T:
        """The rest of what was begun."""
        try:
            while work.job is not None:  # a look-up, which makes few objects
                if await self.go_on(work):
                    return work.result
            with without_full_pass():  # long work makes many objects
                while not await self.go_on(work):
                    pass
        finally:
            work.close()
        return work.result

    def start(self, steps: Steps[None]) -> None:
        """Run them, for which nobody waits: here and now up to the first job or pause. What they
        raise is logged."""
        _Started(steps, self.threads, self).go_on(steps.__next__)

    async def next(self) -> None:
        """Until it is the caller's turn to run a slice."""
        await self.next_turn()

    def next_turn(self, *, is_new: bool = False) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        (self._new if is_new else self._waiting).append(turn)
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_soon(self._wake_one)
        return turn

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


class _Started:
    """Steps for which nobody waits: without a task, because a sync for each produced batch is
    started so."""

    __slots__ = ("_steps", "_threads", "_turns")

    def __init__(self, steps: Steps[None], threads: Threads, turns: Turns) -> None:
        self._steps = steps
        self._threads = threads
        self._turns = turns

    def go_on(self, resume: Callable[[], int | Job]) -> None:
        try:
            step = resume()
        except StopIteration:
            return
        except Exception:
            log.exception("started steps have failed")
            return
        if isinstance(step, int):
            self._turns.next_turn().add_done_callback(self._turn_has_come)
        else:
            self._threads.run(step).add_done_callback(self._job_is_done)

    def _turn_has_come(self, _turn: asyncio.Future[None]) -> None:
        self.go_on(self._steps.__next__)

    def _job_is_done(self, job: asyncio.Future[Any]) -> None:
        if job.cancelled():
            self._steps.close()
        elif (error := job.exception()) is None:
            self.go_on(partial(self._steps.send, job.result()))
        else:
            self.go_on(partial(self._steps.throw, error))


class Lane:
    """A driver whose jobs have threads of their own; its slices take turns with all others."""

    def __init__(self, turns: Turns, threads: Threads) -> None:
        self._turns = turns
        self.threads = threads
        self.next = turns.next

    async def run(self, steps: Steps[T]) -> T:
        return await self._turns.run_work(Work(steps, self.threads))

    def start(self, steps: Steps[None]) -> None:
        _Started(steps, self.threads, self._turns).go_on(steps.__next__)

    def in_thread(self, job: Callable[[], T]) -> asyncio.Future[T]:
        return self.threads.run(job)


def set_of(items: Iterable[T]) -> Steps[set[T]]:
    """The distinct items: a million of them take a tenth of a second, so not all at once."""
    distinct: set[T] = set()
    left = iter(items)
    while some := list(islice(left, CHUNK_ITEMS)):
        distinct.update(some)
        yield PAUSE
    return distinct
