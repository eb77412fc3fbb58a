"""The bound on response memory holds, and who waits for room is served in order."""

from __future__ import annotations

import asyncio

import pytest

from ottla.network.response_memory import ResponseMemory


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


class Builders:
    """Each waits for room, and then holds `size` bytes."""

    def __init__(self, memory: ResponseMemory, size: int) -> None:
        self.memory = memory
        self.size = size
        self.served: list[int] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self, count: int) -> None:
        for number in range(len(self.tasks), len(self.tasks) + count):
            self.tasks.append(asyncio.create_task(self._build(number)))
        await settle()

    async def _build(self, number: int) -> None:
        await self.memory.wait_for_room()
        self.memory.change(self.size)
        self.served.append(number)


def test_below_the_bound_nobody_waits() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(99)
        builders = Builders(memory, size=50)
        await builders.start(1)
        assert builders.served == [0]
        assert memory.held_bytes == 149

    asyncio.run(story())


def test_at_the_bound_builders_wait_and_are_served_in_order() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=1)
        await builders.start(4)
        assert builders.served == []
        assert memory.waiting == 4
        memory.change(-2)
        await settle()
        assert builders.served == [0, 1]
        assert memory.held_bytes == 100
        memory.change(-100)
        await settle()
        assert builders.served == [0, 1, 2, 3]
        assert memory.waiting == 0

    asyncio.run(story())


def test_room_that_one_builder_fills_is_not_given_twice() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=1000)
        await builders.start(3)
        memory.change(-60)
        await settle()
        assert builders.served == [0]
        assert memory.held_bytes == 1040

    asyncio.run(story())


def test_nobody_overtakes_those_who_wait() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=100)
        await builders.start(1)
        memory.change(-100)  # the first has its turn, but has not run yet
        await builders.start(1)
        assert builders.served == [0]
        assert memory.waiting == 1

    asyncio.run(story())


def test_who_was_woken_waits_on_if_the_room_was_taken_meanwhile() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=1)
        await builders.start(2)
        memory.change(-50)
        memory.change(50)  # counted by somebody who need not wait
        await settle()
        assert builders.served == []
        memory.change(-1)
        await settle()
        assert builders.served == [0]

    asyncio.run(story())


@pytest.mark.parametrize("is_woken", [False, True])
def test_one_who_gives_up_leaves_its_turn_to_the_next(is_woken: bool) -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=1)
        await builders.start(3)
        if is_woken:
            memory.change(-1)
        builders.tasks[0].cancel()
        await settle()
        if not is_woken:
            memory.change(-1)
            await settle()
        assert builders.served == [1]
        assert memory.waiting == 1

    asyncio.run(story())
