"""Callbacks that run a few at a time."""

from __future__ import annotations

import asyncio

import pytest

from ottla.base.scheduling.callback_queue import CALLBACKS_MAX, ITERATION_S, CallbackQueue
from ottla.testing.clock import ManualClock

ITERATION_MS = int(1000 * ITERATION_S)


def queue_with(clock: ManualClock, callbacks_max: int = CALLBACKS_MAX) -> CallbackQueue:
    """On a clock of its own: a busy machine would end iterations early."""
    return CallbackQueue(callbacks_max, clock.monotonic_s)


def test_callbacks_run_in_order_a_few_in_each_iteration() -> None:
    async def story() -> None:
        queue, called = queue_with(ManualClock()), list[int]()
        for number in range(3 * CALLBACKS_MAX):
            queue.add(lambda n=number: called.append(n))  # type: ignore[misc]
        assert called == []
        for waiter in (1, 2, 3):
            await asyncio.sleep(0)
            assert called == list(range(waiter * CALLBACKS_MAX))
        assert len(queue) == 0

    asyncio.run(story())


def test_a_few_run_immediately_in_each_iteration() -> None:
    async def story() -> None:
        queue, called = queue_with(ManualClock(), 2), list[int]()
        for number in range(5):
            queue.run(lambda n=number: called.append(n))  # type: ignore[misc]
        assert called == [0, 1]
        await asyncio.sleep(0)
        assert called == [0, 1, 2, 3]
        queue.run(lambda: called.append(5))
        assert called == [0, 1, 2, 3], "not before those that wait"
        await asyncio.sleep(0)
        assert called == [0, 1, 2, 3, 4, 5]
        await asyncio.sleep(0)
        queue.run(lambda: called.append(6))
        assert called[-1] == 6

    asyncio.run(story())


def test_slow_callbacks_end_an_iteration_early() -> None:
    async def story() -> None:
        clock = ManualClock()
        queue, called = queue_with(clock), list[int]()

        def slow() -> None:
            called.append(1)
            clock.advance_ms(ITERATION_MS)

        for _ in range(3):
            queue.add(slow)
        for waiter in (1, 2, 3):
            await asyncio.sleep(0)
            assert len(called) == waiter

    asyncio.run(story())


def test_a_callback_that_fails_or_adds_another_does_not_stop_the_rest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        queue, called = queue_with(ManualClock()), list[str]()
        queue.add(lambda: called.append("first"))
        queue.add(lambda: 1 / 0)  # type: ignore[arg-type]
        queue.add(lambda: queue.add(lambda: called.append("added")))
        queue.add(lambda: called.append("last"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert called == ["first", "last", "added"]
        assert "ZeroDivisionError" in caplog.text
        queue.add(lambda: called.append("again"))
        await asyncio.sleep(0)
        assert called[-1] == "again"

    asyncio.run(story())
