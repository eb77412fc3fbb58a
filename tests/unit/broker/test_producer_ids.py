"""Blocks of producer ids: asked for once, used up in order, and not given up by one who leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from ottla.base.scheduling.callback_queue import TASKS_MAX
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.producer_ids import Block, ProducerIds
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

T = TypeVar("T")


class Controller:
    """Gives blocks, of three ids each, when it is let."""

    def __init__(self) -> None:
        self.given = 0
        self.ids_each = 3
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.error: BrokerError | None = None

    async def allocate(self) -> Block:
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        self.given += 1
        return Block(10 * self.given, 10 * self.given + self.ids_each)


def run(story: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(story, 300))


async def next_id(ids: ProducerIds) -> int:
    await ids.ready()
    return ids.take()


def test_a_block_is_used_up_before_the_next_is_asked_for() -> None:
    async def story() -> None:
        controller = Controller()
        ids = ProducerIds(controller.allocate, OwnedTasks())
        assert [await next_id(ids) for _ in range(7)] == [10, 11, 12, 20, 21, 22, 30]

    run(story())


def test_many_who_wait_share_one_allocation_and_get_different_ids() -> None:
    async def story() -> None:
        controller = Controller()
        controller.may_answer.clear()
        ids = ProducerIds(controller.allocate, OwnedTasks())
        waiting = [asyncio.create_task(next_id(ids)) for _ in range(5)]
        await asyncio.sleep(0)
        controller.may_answer.set()
        assert sorted(await asyncio.gather(*waiting)) == [10, 11, 12, 20, 21]
        assert controller.given == 2

    run(story())


def test_one_who_stops_waiting_stops_nothing_for_the_others() -> None:
    async def story() -> None:
        controller = Controller()
        controller.may_answer.clear()
        ids = ProducerIds(controller.allocate, OwnedTasks())
        first, second = (asyncio.create_task(next_id(ids)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        controller.may_answer.set()
        assert await second == 10

    run(story())


def test_a_failed_allocation_has_a_retriable_error() -> None:
    async def story() -> None:
        controller = Controller()
        controller.error = BrokerError(ErrorCode.NOT_CONTROLLER)
        ids = ProducerIds(controller.allocate, OwnedTasks())
        with pytest.raises(BrokerError) as refused:
            await next_id(ids)
        assert refused.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        controller.error = None
        assert await next_id(ids) == 10

    run(story())


def test_few_of_very_many_that_wait_continue_in_an_iteration_of_the_event_loop() -> None:
    async def story() -> None:
        controller = Controller()
        controller.may_answer.clear()
        controller.ids_each = 10_000
        ids = ProducerIds(controller.allocate, OwnedTasks())
        got: list[int] = []

        async def take() -> None:
            got.append(await next_id(ids))

        waiting = [asyncio.create_task(take()) for _ in range(20 * TASKS_MAX)]
        await asyncio.sleep(0)
        controller.may_answer.set()
        while len(got) < len(waiting):
            before = len(got)
            await asyncio.sleep(0)
            assert len(got) - before <= 2 * TASKS_MAX
        assert controller.given == 1

    run(story())


def test_who_waits_when_the_broker_stops_does_not_wait_forever() -> None:
    async def story() -> None:
        controller, tasks = Controller(), OwnedTasks()
        controller.may_answer.clear()
        ids = ProducerIds(controller.allocate, tasks)
        waiting = asyncio.create_task(next_id(ids))
        await asyncio.sleep(0)
        await tasks.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    run(story())
