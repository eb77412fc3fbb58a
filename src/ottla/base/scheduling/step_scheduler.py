"""Runs steps on the event loop: in slices, with their jobs in threads.

    described = await scheduler.run(describing(topics))     # `describing` returns `Steps`

Owns      the length of slices and the order of work.
Promises  in one iteration of the event loop, all long work together takes at most one slice, plus
          the bounded first slices of new work, plus the longest time between two yields. Work is
          served round-robin; every second slice goes to work that has had none. Work that resumes
          after a job gets a first slice again.
Leaves    to the work that it does little between two yields, and that it expects any state to
          change at a yield.

Steps are generators, not coroutines: short work, which is most work, then needs neither a task nor
an iteration of the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from types import GeneratorType
from typing import Any, Generic, TypeVar

from ottla.base.clock import Clock
from ottla.base.memory.suspended import values_in_generator, values_in_traceback
from ottla.base.scheduling.steps import PAUSE, Job, Steps
from ottla.base.scheduling.threads import Threads

T = TypeVar("T")
log = logging.getLogger(__name__)

FIRST_SLICE_S = 0.001  # run immediately when work is submitted
FIRST_SLICES_S = 0.004  # for all new work in one iteration; the rest is queued
SHORT_S = 0.000_1  # shorter first slices are not counted: ordinary requests take as long
SLICE_S = 0.004
CHUNK_ITEMS = 1000  # handled by C code between two yields


class Work(Generic[T]):
    """Steps in progress, and their result once they are done."""

    __slots__ = ("_error", "_outcome", "_steps", "_threads", "grown", "is_new", "job", "result")

    result: T
    _outcome: Any  # result of the last job, unless it failed
    _error: BaseException | None

    def __init__(self, steps: Steps[T], threads: Threads) -> None:
        self._steps = steps
        self._threads = threads  # for its jobs
        self.grown = 0  # the sum of the ints that were yielded
        self.is_new = True  # has not had a slice
        self.job: Job | None = None  # to be run by a thread next

    def run_until(self, end_s: float, now_s: Callable[[], float]) -> bool:
        """Run for a slice, at least to the next yield, or up to a job. Returns whether the work is
        done."""
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
        """Continue with the outcome of the job."""
        self.job = None
        outcome, error = self._outcome, self._error
        self._outcome = self._error = None  # release the references
        try:
            return self._steps.send(outcome) if error is None else self._steps.throw(error)
        finally:
            del outcome, error  # break the reference cycle between the error and this frame

    async def run_job(self) -> None:
        assert self.job is not None
        self._outcome = self._error = None
        try:
            self._outcome = await self._threads.run(self.job)
        except Exception as error:
            self._error = error

    def end(self, error: BaseException) -> list[object]:
        """Close the generator because of an error, which it may have raised. Returns what it refers
        to, or its result, for the caller to free."""
        values = values_in_traceback(error)
        if isinstance(self._steps, GeneratorType):
            values += values_in_generator(self._steps)
        if hasattr(self, "result"):
            values.append(self.result)
            del self.result
        self._steps.close()
        return values

    def close(self) -> None:
        """Close the generator."""
        self._steps.close()


class StepScheduler:
    """All long work of one event loop. Jobs run in the threads for requests, except those of a
    `DedicatedDriver`."""

    def __init__(self, clock: Clock, threads: Threads | None = None) -> None:
        self.threads = threads or Threads()  # for jobs
        self._now_s = clock.monotonic_s
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._new: deque[asyncio.Future[None]] = deque()  # for work that has had no slice
        self._is_for_new = False
        self._is_scheduled = False
        self._begun_s = 0.0  # spent on first slices in this iteration

    def in_thread(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """The result of a single job."""
        return self.threads.run(job)

    def begin(self, steps: Steps[T]) -> tuple[Work[T], bool]:
        """Run a short first slice now, if this iteration has time left. Returns whether the work is
        done."""
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
            asyncio.get_running_loop().call_soon(self._begin_iteration)
        self._begun_s += seconds

    def _begin_iteration(self) -> None:
        self._begun_s = 0.0

    async def advance(self, work: Work[T]) -> bool:
        """Wait for the next slice, or for the job, and run it. Returns whether the work is done."""
        if work.job is not None:
            await work.run_job()
            if self._begun_s < FIRST_SLICES_S:
                return self._run_short(work)
        await self.next_slice(is_new=work.is_new)
        return work.run_until(self._now_s() + SLICE_S, self._now_s)

    async def run(self, steps: Steps[T]) -> T:
        """Run to completion, in as many slices as needed, and return the result."""
        work, is_done = self.begin(steps)
        return work.result if is_done else await self.finish(work)

    async def run_work(self, work: Work[T]) -> T:
        """As `run`, for a `DedicatedDriver`."""
        if self._begun_s < FIRST_SLICES_S and self._run_short(work):
            return work.result
        return await self.finish(work)

    async def run_later(self, steps: Steps[T]) -> T:
        """As `run`, without an immediate first slice: for work that may be submitted many times at
        once."""
        return await self.finish(Work(steps, self.threads))

    async def finish(self, work: Work[T]) -> T:
        """Complete work that has begun."""
        try:
            while not await self.advance(work):
                pass
        finally:
            work.close()
        return work.result

    def start(self, steps: Steps[None]) -> None:
        """Run steps in the background: up to the first job or pause now. Exceptions are logged."""
        _Started(steps, self.threads, self).advance(steps.__next__)

    async def next(self) -> None:
        """Wait until a slice may run."""
        await self.next_slice()

    def next_slice(self, *, is_new: bool = False) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        (self._new if is_new else self._waiting).append(waiter)
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_soon(self._wake_one)
        return waiter

    def _wake_one(self) -> None:
        """Wake one waiter; it runs in the next iteration of the loop, and so does this function.

        Every second slice goes to new work: most of it needs only one slice, and should not wait
        for work that needs many.
        """
        self._is_for_new = not self._is_for_new
        lines = (self._new, self._waiting) if self._is_for_new else (self._waiting, self._new)
        waiter = first_of(lines[0]) or first_of(lines[1])
        if waiter is not None:
            waiter.set_result(None)
            asyncio.get_running_loop().call_soon(self._wake_one)
        else:
            self._is_scheduled = False


def first_of(waiting: deque[asyncio.Future[None]]) -> asyncio.Future[None] | None:
    """Remove and return the first waiter that was not cancelled."""
    while waiting:
        waiter = waiting.popleft()
        if not waiter.done():
            return waiter
    return None


class _Started:
    """Steps in the background. They have no task, because a sync is started this way for each
    produced batch."""

    __slots__ = ("_scheduler", "_steps", "_threads")

    def __init__(self, steps: Steps[None], threads: Threads, scheduler: StepScheduler) -> None:
        self._steps = steps
        self._threads = threads
        self._scheduler = scheduler

    def advance(self, resume: Callable[[], int | Job]) -> None:
        try:
            step = resume()
        except StopIteration:
            return
        except Exception:
            log.exception("background steps have failed")
            return
        if isinstance(step, int):
            self._scheduler.next_slice().add_done_callback(self._slice_may_run)
        else:
            self._threads.run(step).add_done_callback(self._job_is_done)

    def _slice_may_run(self, _slice: asyncio.Future[None]) -> None:
        self.advance(self._steps.__next__)

    def _job_is_done(self, job: asyncio.Future[Any]) -> None:
        if job.cancelled():
            self._steps.close()
        elif (error := job.exception()) is None:
            self.advance(partial(self._steps.send, job.result()))
        else:
            self.advance(partial(self._steps.throw, error))


class DedicatedDriver:
    """A driver whose jobs run in dedicated threads; its slices are scheduled with all others."""

    def __init__(self, scheduler: StepScheduler, threads: Threads) -> None:
        self._scheduler = scheduler
        self.threads = threads
        self.next = scheduler.next

    async def run(self, steps: Steps[T]) -> T:
        return await self._scheduler.run_work(Work(steps, self.threads))

    def start(self, steps: Steps[None]) -> None:
        _Started(steps, self.threads, self._scheduler).advance(steps.__next__)

    def in_thread(self, job: Callable[[], T]) -> asyncio.Future[T]:
        return self.threads.run(job)


def set_of(items: Iterable[T]) -> Steps[set[T]]:
    """The distinct items, in slices: a million items take a tenth of a second."""
    distinct: set[T] = set()
    left = iter(items)
    while some := list(islice(left, CHUNK_ITEMS)):
        distinct.update(some)
        yield PAUSE
    return distinct


def selecting(
    items: Iterable[T], select: Callable[[Sequence[T]], Iterable[T]], chunk_items: int = 200
) -> Steps[list[T]]:
    """The results of `select` for all items, in slices. Later changes of `items` have no effect."""
    selected: list[T] = []
    left = iter(list(items))
    while some := list(islice(left, chunk_items)):
        selected += select(some)
        yield PAUSE
    return selected


def emptying(items: set[T] | dict[T, Any]) -> Steps[None]:
    """Free the items of a set or a dict in slices: a million items take a fifth of a second."""
    take: Callable[[], object] = items.popitem if isinstance(items, dict) else items.pop
    while items:
        for _ in range(min(CHUNK_ITEMS, len(items))):
            take()
        yield PAUSE
