"""Long work runs in slices, one in each turn of the event loop."""

from __future__ import annotations

import asyncio
from itertools import groupby
from random import Random

import pytest

from ottla.base.turns import FIRST_SLICE_S, FIRST_SLICES_S, SLICE_S, Slices, Turns, run_at_once
from ottla.testing.clock import ManualClock

MS = 1000


def steps(count: int, clock: ManualClock, *, step_ms: int = 1, log: list[int]) -> Slices[int]:
    """Work whose every step takes the same time."""
    for step in range(count):
        clock.advance_ms(step_ms)
        log.append(step)
        yield 10
    return count


def test_work_that_fits_the_first_slice_is_done_at_once() -> None:
    log: list[int] = []
    work, is_done = Turns(ManualClock()).begin(steps(5, ManualClock(), log=log))
    assert is_done
    assert work.result == 5
    assert work.grown == 50


def test_a_slice_ends_at_the_first_yield_after_its_time() -> None:
    clock, log = ManualClock(), list[int]()

    async def main() -> None:
        _, is_done = Turns(clock).begin(steps(100, clock, log=log))
        assert not is_done

    asyncio.run(main())
    assert len(log) == FIRST_SLICE_S * MS


def test_one_slice_runs_in_a_turn_however_many_works_there_are() -> None:
    clock = ManualClock()
    turns = Turns(clock)
    spent_ms: list[float] = []

    async def main() -> None:
        logs: list[list[int]] = [[] for _ in range(5)]
        works = [asyncio.ensure_future(turns.run(steps(20, clock, log=log))) for log in logs]
        await asyncio.sleep(0)  # their first slices
        while not all(work.done() for work in works):
            before_s = clock.monotonic_s()
            await asyncio.sleep(0)
            spent_ms.append((clock.monotonic_s() - before_s) * MS)
        assert [work.result() for work in works] == [20] * 5

    asyncio.run(main())
    step_ms = 1
    assert max(spent_ms) <= SLICE_S * MS + step_ms


def test_works_take_turns_in_the_order_in_which_they_came() -> None:
    clock = ManualClock()
    turns = Turns(clock)
    order: list[str] = []

    def named(name: str) -> Slices[None]:
        for _ in range(9):
            clock.advance_ms(1)
            order.append(name)
            yield 0

    async def main() -> None:
        await asyncio.gather(*(turns.run(named(name)) for name in "abc"))

    asyncio.run(main())
    assert "".join(name for name, _ in groupby(order)).startswith("abcabcabc")


def test_work_that_is_cancelled_lets_the_next_one_have_its_turn() -> None:
    clock = ManualClock()
    turns = Turns(clock)
    closed: list[bool] = []

    def endless() -> Slices[None]:
        try:
            while True:
                clock.advance_ms(10)
                yield 0
        finally:
            closed.append(True)

    async def main() -> int:
        first = asyncio.ensure_future(turns.run(endless()))
        second = asyncio.ensure_future(turns.run(steps(9, clock, step_ms=10, log=[])))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(main()) == 9
    assert closed == [True]


def test_what_the_work_raises_reaches_its_caller() -> None:
    clock = ManualClock()

    def failing() -> Slices[None]:
        clock.advance_ms(10)
        yield 0
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(Turns(clock).run(failing()))


def test_all_of_it_can_be_run_without_a_pause() -> None:
    assert run_at_once(steps(7, ManualClock(), log=[])) == 7


def test_many_works_that_come_together_share_the_time_for_their_first_slices() -> None:
    clock = ManualClock()
    turns = Turns(clock)
    logs: list[list[int]] = [[] for _ in range(20)]

    async def main() -> None:
        works = [turns.begin(steps(3, clock, log=log))[0] for log in logs]
        assert sum(map(len, logs)) == FIRST_SLICES_S * MS
        await asyncio.sleep(0)
        _, is_done = turns.begin(steps(1, clock, step_ms=0, log=[]))
        assert is_done, "the next turn has time again"
        await asyncio.gather(*map(turns.finish, works))

    asyncio.run(main())
    assert [len(log) for log in logs] == [3] * 20


@pytest.mark.parametrize("seed", range(20))
def test_whoever_leaves_and_whenever_the_others_have_their_turns(seed: int) -> None:
    """Works that wait, run or have just come may be cancelled, several in a row too."""
    rng, clock = Random(seed), ManualClock()
    turns = Turns(clock)
    ended: list[int] = []

    async def one(number: int, size: int) -> None:
        assert await turns.run(steps(size, clock, log=[])) == size
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
        assert await turns.run(steps(40, clock, log=[])) == 40, "the next one, too"

    asyncio.run(main())


def test_new_work_does_not_wait_for_all_that_is_long() -> None:
    clock, long, short = ManualClock(), 50, list[int]()
    turns = Turns(clock)

    async def main() -> None:
        logs: list[list[int]] = [[] for _ in range(long)]
        works = [
            asyncio.ensure_future(turns.run_later(steps(1000, clock, log=log))) for log in logs
        ]
        while not all(logs):
            await asyncio.sleep(0)  # until each has had a slice
        before_s = clock.monotonic_s()
        await turns.run_later(steps(1, clock, log=short))
        assert clock.monotonic_s() - before_s <= 3 * SLICE_S
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    asyncio.run(main())
    assert short == [0]
