"""Deadlines of an event loop: in order, none too early, with one handle of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest

from ottla.base.scheduling.loop_timers import EXPIRED_AT_ONCE, LoopTimers


class Waiting:
    def __init__(self, name: object, expired: list[object]) -> None:
        self.name = name
        self._expired = expired

    def expire(self) -> None:
        self._expired.append(self.name)


class FailsOnce(Waiting):
    def expire(self) -> None:
        super().expire()
        raise RuntimeError("expected")


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 30))


async def until(is_true: Callable[[], bool]) -> None:
    while not is_true():
        await asyncio.sleep(0.001)


def test_they_expire_in_order_and_none_too_early() -> None:
    async def story() -> None:
        timers, expired, loop = LoopTimers(), list[object](), asyncio.get_running_loop()
        begin_s = loop.time()
        late, soon, cancelled = (Waiting(name, expired) for name in ("late", "soon", "cancelled"))
        timers.start(late, 60)
        timers.start(cancelled, 10)
        timers.start(soon, 20)
        timers.cancel(cancelled)
        assert len(timers) == 2
        await until(lambda: bool(expired))
        assert expired[0] == "soon"
        assert loop.time() - begin_s >= 0.02
        await until(lambda: len(expired) == 2)
        assert expired == ["soon", "late"]
        assert loop.time() - begin_s >= 0.06
        assert len(timers) == 0

    run(story())


def test_many_deadlines_need_one_handle_of_the_loop() -> None:
    async def story() -> None:
        timers, expired, loop = LoopTimers(), list[object](), asyncio.get_running_loop()
        handles, call_at = [], loop.call_at

        def noted(when: float, callback: Callable[..., object], *args: Any) -> asyncio.TimerHandle:
            handles.append(callback)
            return call_at(when, callback, *args)

        loop.call_at = noted  # type: ignore[method-assign,assignment]
        waiting = [Waiting(number, expired) for number in range(2 * EXPIRED_AT_ONCE)]
        for each in waiting:
            timers.start(each, 10_000)
        assert len(handles) == 1
        for each in waiting[1:]:
            timers.cancel(each)
        timers.start(waiting[0], 0)  # sooner than before
        del loop.call_at
        await until(lambda: bool(expired))
        assert expired == [0]
        assert len(timers) == 0

    run(story())


def test_many_expired_timers_are_handled_in_several_iterations() -> None:
    async def story() -> None:
        timers, expired = LoopTimers(), list[object]()
        for number in range(2 * EXPIRED_AT_ONCE + 1):
            timers.start(Waiting(number, expired), 1)
        seen = [0]
        while len(expired) <= 2 * EXPIRED_AT_ONCE:
            await asyncio.sleep(0)
            seen.append(len(expired))
        assert max(after - before for before, after in pairwise(seen)) <= EXPIRED_AT_ONCE
        assert expired == list(range(2 * EXPIRED_AT_ONCE + 1))

    run(story())


@pytest.mark.parametrize("is_before", [True, False])
def test_one_that_fails_does_not_stop_the_others(is_before: bool) -> None:
    async def story() -> None:
        timers, expired, failures = LoopTimers(), list[object](), list[object]()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: failures.append(context["exception"]))
        kinds = (FailsOnce, Waiting) if is_before else (Waiting, FailsOnce)
        for number, kind in enumerate(kinds):
            timers.start(kind(number, expired), 1)
        await until(lambda: len(expired) == 2)
        assert expired == [0, 1]
        assert [type(each) for each in failures] == [RuntimeError]

    run(story())


def test_a_deadline_behind_very_many_cancelled_ones_is_not_missed() -> None:
    async def story() -> None:
        timers, expired = LoopTimers(), list[object]()
        last = Waiting("last", expired)
        kept = [Waiting(number, expired) for number in range(1000)]
        for each in kept:
            timers.start(each, 1)
        for each in kept[:-1]:
            timers.cancel(each)
        timers.start(last, 2)
        await until(lambda: len(expired) == 2)
        assert expired == [999, "last"]

    run(story())
