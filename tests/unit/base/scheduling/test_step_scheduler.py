"""Long work runs in slices, one in each iteration of the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from random import Random

import pytest
from tests.support.steps_by_hand import run_with

from ottla.base.clock import SystemClock
from ottla.base.scheduling.step_scheduler import (
    FIRST_SLICE_S,
    FIRST_SLICES_S,
    SLICE_S,
    DedicatedDriver,
    StepScheduler,
    emptying,
)
from ottla.base.scheduling.steps import Steps, noting, run_blocking, until
from ottla.base.scheduling.threads import Threads
from ottla.testing.clock import ManualClock

MS = 1000


def steps(count: int, clock: ManualClock, *, step_ms: int = 1, log: list[int]) -> Steps[int]:
    """Work whose every step takes the same time."""
    for step in range(count):
        clock.advance_ms(step_ms)
        log.append(step)
        yield 10
    return count


def test_work_that_fits_the_first_slice_is_done_at_once() -> None:
    log: list[int] = []
    work, is_done = StepScheduler(ManualClock()).begin(steps(5, ManualClock(), log=log))
    assert is_done
    assert work.result == 5
    assert work.grown == 50


def test_a_slice_ends_at_the_first_yield_after_its_time() -> None:
    clock, log = ManualClock(), list[int]()

    async def main() -> None:
        _, is_done = StepScheduler(clock).begin(steps(100, clock, log=log))
        assert not is_done

    asyncio.run(main())
    assert len(log) == FIRST_SLICE_S * MS


def test_one_slice_runs_per_iteration_however_much_work_there_is() -> None:
    clock = ManualClock()
    scheduler = StepScheduler(clock)
    spent_ms: list[float] = []

    async def main() -> None:
        logs: list[list[int]] = [[] for _ in range(5)]
        works = [asyncio.ensure_future(scheduler.run(steps(20, clock, log=log))) for log in logs]
        await asyncio.sleep(0)  # their first slices
        while not all(work.done() for work in works):
            before_s = clock.monotonic_s()
            await asyncio.sleep(0)
            spent_ms.append((clock.monotonic_s() - before_s) * MS)
        assert [work.result() for work in works] == [20] * 5

    asyncio.run(main())
    step_ms = 1
    assert max(spent_ms) <= SLICE_S * MS + step_ms


def test_work_is_served_round_robin_in_order_of_submission() -> None:
    clock = ManualClock()
    scheduler = StepScheduler(clock)
    order: list[str] = []

    def named(name: str) -> Steps[None]:
        for _ in range(9):
            clock.advance_ms(1)
            order.append(name)
            yield 0

    async def main() -> None:
        await asyncio.gather(*(scheduler.run(named(name)) for name in "abc"))

    asyncio.run(main())
    assert "".join(name for name, _ in groupby(order)).startswith("abcabcabc")


def test_cancelled_work_does_not_delay_the_next() -> None:
    clock = ManualClock()
    scheduler = StepScheduler(clock)
    closed: list[bool] = []

    def endless() -> Steps[None]:
        try:
            while True:
                clock.advance_ms(10)
                yield 0
        finally:
            closed.append(True)

    async def main() -> int:
        first = asyncio.ensure_future(scheduler.run(endless()))
        second = asyncio.ensure_future(scheduler.run(steps(9, clock, step_ms=10, log=[])))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(main()) == 9
    assert closed == [True]


def test_what_the_work_raises_reaches_its_caller() -> None:
    clock = ManualClock()

    def failing() -> Steps[None]:
        clock.advance_ms(10)
        yield 0
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(StepScheduler(clock).run(failing()))


def test_all_of_it_can_be_run_without_a_pause() -> None:
    assert run_blocking(steps(7, ManualClock(), log=[])) == 7


def test_many_works_that_come_together_share_the_time_for_their_first_slices() -> None:
    clock = ManualClock()
    scheduler = StepScheduler(clock)
    logs: list[list[int]] = [[] for _ in range(20)]

    async def main() -> None:
        works = [scheduler.begin(steps(3, clock, log=log))[0] for log in logs]
        assert sum(map(len, logs)) == FIRST_SLICES_S * MS
        await asyncio.sleep(0)
        _, is_done = scheduler.begin(steps(1, clock, step_ms=0, log=[]))
        assert is_done, "the next turn has time again"
        await asyncio.gather(*map(scheduler.finish, works))

    asyncio.run(main())
    assert [len(log) for log in logs] == [3] * 20


@pytest.mark.parametrize("seed", range(20))
def test_cancelling_work_at_any_time_does_not_delay_other_work(seed: int) -> None:
    """Works that wait, run or have just come may be cancelled, several in a row too."""
    rng, clock = Random(seed), ManualClock()
    scheduler = StepScheduler(clock)
    ended: list[int] = []

    async def one(number: int, size: int) -> None:
        assert await scheduler.run(steps(size, clock, log=[])) == size
        ended.append(number)

    async def main() -> None:
        works: list[asyncio.Task[None]] = []
        for _ in range(rng.randrange(2, 20)):
            for _ in range(rng.randrange(6)):
                size = rng.choice((1, 9, 40))
                works.append(asyncio.create_task(one(len(works), size)))
            for _ in range(rng.randrange(4)):
                await asyncio.sleep(0)
            if works:
                first = rng.randrange(len(works))
                for work in works[first : first + rng.randrange(6)]:
                    work.cancel()
        async with asyncio.timeout(60):
            await asyncio.wait(works)
        assert sorted(ended) == [
            number for number, work in enumerate(works) if not work.cancelled()
        ]
        assert await scheduler.run(steps(40, clock, log=[])) == 40, "the next one, too"

    asyncio.run(main())


def test_new_work_does_not_wait_for_all_that_is_long() -> None:
    clock, long, short = ManualClock(), 50, list[int]()
    scheduler = StepScheduler(clock)

    async def main() -> None:
        logs: list[list[int]] = [[] for _ in range(long)]
        works = [
            asyncio.ensure_future(scheduler.run_later(steps(1000, clock, log=log))) for log in logs
        ]
        while not all(logs):
            await asyncio.sleep(0)  # until each has had a slice
        before_s = clock.monotonic_s()
        await scheduler.run_later(steps(1, clock, log=short))
        assert clock.monotonic_s() - before_s <= 3 * SLICE_S
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    asyncio.run(main())
    assert short == [0]


# Jobs


def with_job(job: Callable[[], int], log: list[object]) -> Steps[int]:
    """A job between two pauses."""
    yield 1
    try:
        log.append((yield job))
    except ValueError as error:
        log.append(str(error))
    yield 2
    return 3


def broken() -> int:
    raise ValueError("broken")


@pytest.mark.parametrize(("job", "outcome"), [(threading.get_ident, None), (broken, "broken")])
def test_a_job_runs_in_a_thread_and_its_outcome_comes_back(
    job: Callable[[], int], outcome: str | None
) -> None:
    log: list[object] = []
    assert asyncio.run(StepScheduler(SystemClock()).run(with_job(job, log))) == 3
    if outcome is None:
        assert log[0] not in (None, threading.get_ident())
    else:
        assert log == [outcome]
    assert len(log) == 1


@pytest.mark.parametrize("job", [threading.get_ident, broken])
def test_steps_that_are_started_run_up_to_their_job_at_once(job: Callable[[], int]) -> None:
    log: list[object] = []

    def noted() -> Steps[None]:
        log.append("begun")
        yield from with_job(job, log)
        log.append("ended")

    async def main() -> None:
        scheduler = StepScheduler(SystemClock())
        scheduler.start(noted())
        assert log == ["begun"]
        while "ended" not in log:
            await asyncio.sleep(0.001)

    asyncio.run(main())
    assert len(log) == 3


def test_what_started_steps_raise_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def failing() -> Steps[None]:
        yield time.monotonic
        raise ValueError("broken")

    async def main() -> None:
        StepScheduler(SystemClock()).start(failing())
        while not caplog.records:
            await asyncio.sleep(0.001)

    asyncio.run(main())
    assert "broken" in caplog.text


def test_what_follows_a_job_is_bounded_like_a_first_slice() -> None:
    """However many jobs end in one iteration of the event loop."""
    clock, log = ManualClock(), list[int]()
    scheduler = StepScheduler(clock)
    release = threading.Event()
    spent_ms: list[float] = []

    def work() -> Steps[int]:
        yield release.wait
        return (yield from steps(20, clock, log=log))

    async def main() -> None:
        works = [asyncio.ensure_future(scheduler.run(work())) for _ in range(30)]
        await asyncio.sleep(0)
        release.set()
        while not all(each.done() for each in works):
            before_s = clock.monotonic_s()
            await asyncio.sleep(0)
            spent_ms.append((clock.monotonic_s() - before_s) * MS)

    asyncio.run(main())
    step_ms = 1
    assert max(spent_ms) <= (FIRST_SLICES_S + FIRST_SLICE_S + SLICE_S) * MS + 2 * step_ms


def test_a_lane_has_threads_of_its_own() -> None:
    """Jobs of requests that occupy all threads of their lane delay no other lane."""
    release = threading.Event()

    async def main() -> str:
        with ThreadPoolExecutor(1) as requests, ThreadPoolExecutor(1) as disk:
            scheduler = StepScheduler(SystemClock(), Threads(requests))
            lane = DedicatedDriver(scheduler, Threads(disk))
            blocked = asyncio.ensure_future(scheduler.run(with_job(lambda: release.wait(60), [])))
            try:
                await asyncio.sleep(0)
                return await lane.run(quick())
            finally:
                release.set()
                await blocked

    def quick() -> Steps[str]:
        name: str = yield lambda: "done"
        return name

    assert asyncio.run(asyncio.wait_for(main(), 60)) == "done"


def test_work_that_is_given_up_during_its_job_ends() -> None:
    release, closed = threading.Event(), list[bool]()

    def waiting() -> Steps[None]:
        try:
            yield lambda: release.wait(60)
        finally:
            closed.append(True)

    async def main() -> None:
        task = asyncio.ensure_future(StepScheduler(SystemClock()).run(waiting()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()

    asyncio.run(main())
    assert closed == [True]


def test_noted_steps_hand_on_what_their_jobs_return_and_raise() -> None:
    for job, outcome in ((lambda: 7, 7), (broken, "broken")):
        log, grown = list[object](), list[int]()
        assert run_blocking(noting(with_job(job, log), grown.append)) == 3
        assert (log, grown) == ([outcome], [1, 2])


def test_steps_end_once_it_is_over() -> None:
    log = list[object]()

    def endless() -> Steps[None]:
        try:
            while True:
                log.append((yield time.monotonic))
        finally:
            log.append("closed")

    run_with(until(lambda: len(log) > 2, endless()), lambda _job: "job")
    assert log == ["job", "job", "job", "closed"]


@pytest.mark.parametrize("items", [set(range(2500)), dict.fromkeys(range(2500))])
def test_a_set_or_a_dict_is_emptied_in_slices(items: set[int] | dict[int, None]) -> None:
    left = [len(items) for _ in emptying(items)]
    assert left == [1500, 500, 0]
