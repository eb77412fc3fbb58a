"""Events that very many tasks wait for."""

from __future__ import annotations

import asyncio

import pytest

from ottla.base.scheduling.callback_queue import TASKS_MAX
from ottla.base.scheduling.gradual_event import GradualEvent
from ottla.base.scheduling.tasks import next_iteration

MANY = 10 * TASKS_MAX


async def most_in_an_iteration(event: GradualEvent, end: BaseException | None) -> list[int]:
    """Let many wait; the order in which they return."""
    returned: list[int] = []

    async def wait(number: int) -> None:
        try:
            await event.wait()
        except KeyError:
            assert end is not None
        returned.append(number)

    tasks = [asyncio.create_task(wait(number)) for number in range(MANY)]
    await next_iteration()
    assert not returned
    if end is None:
        event.set()
    else:
        event.fail(end)
    while len(returned) < MANY:
        before = len(returned)
        await next_iteration()
        assert len(returned) - before <= 2 * TASKS_MAX
    await asyncio.gather(*tasks)
    return returned


@pytest.mark.parametrize("end", [None, KeyError("x")], ids=["happens", "fails"])
def test_few_tasks_resume_in_an_iteration_in_the_order_in_which_they_came(
    end: BaseException | None,
) -> None:
    assert asyncio.run(most_in_an_iteration(GradualEvent(), end)) == list(range(MANY))


def test_waiting_for_an_event_of_the_past_returns_at_once() -> None:
    async def story() -> None:
        event = GradualEvent()
        event.set()
        await event.wait()
        failed = GradualEvent()
        failed.fail(KeyError("x"))
        with pytest.raises(KeyError):
            await failed.wait()

    asyncio.run(story())


def test_a_task_that_is_cancelled_while_it_waits_is_passed_over() -> None:
    async def story() -> None:
        event = GradualEvent()
        first, second = (asyncio.create_task(event.wait()) for _ in range(2))
        await next_iteration()
        first.cancel()
        event.set()
        await second
        assert first.cancelled()

    asyncio.run(story())
