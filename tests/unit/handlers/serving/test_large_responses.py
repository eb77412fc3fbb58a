"""Responses that take several slices are built within bounds, and never wait forever."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import cast

import pytest

from ottla.base.memory.stored_errors import without_traceback
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.context import Context, Peer
from ottla.handlers.serving.disposal import PIECE_ITEMS, PIECES_PER_ITERATION
from ottla.handlers.serving.large_responses import LARGE_BYTES, LargeResponseAccount, LargeResponses
from ottla.network.response_memory import ResponseMemory
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Struct
from ottla.testing.clock import ManualClock

MIB = 1024 * 1024
MEMORY_BYTES = 4 * MIB
RESPONSE_BYTES_MAX = 8 * MIB
MANY = 3 * PIECE_ITEMS * PIECES_PER_ITERATION


class Building:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.scheduler = StepScheduler(self.clock)
        self.memory = ResponseMemory(MEMORY_BYTES)
        self.large = LargeResponses(self.scheduler, self.memory, RESPONSE_BYTES_MAX)
        self.held_most = 0

    def growing(self, size: int) -> Steps[int]:
        """A slice for every half of a mebibyte."""
        for _ in range(0, size, MIB // 2):
            self.clock.advance_ms(10)
            self.held_most = max(self.held_most, self.memory.held_bytes)
            yield MIB // 2
        return size

    async def build(self, size: int, context: Asked | None = None) -> int:
        asked = context or Asked()
        try:
            return await self.large.build(self.growing(size), cast(Context, asked))
        finally:
            if asked.account is not None:
                asked.account.close()


class Asked:
    """As much of a request as counts here."""

    def __init__(self) -> None:
        self.peer = Peer("L", "h", 1)
        self.account: LargeResponseAccount | None = None
        self.is_large = False


def test_what_is_built_counts_in_the_memory_until_it_is_handed_on() -> None:
    async def main() -> None:
        building, asked = Building(), Asked()
        context = cast(Context, asked)
        assert await building.large.build(building.growing(3 * MIB), context) == 3 * MIB
        assert asked.is_large
        assert asked.account is not None
        assert building.memory.held_bytes == 3 * MIB
        asked.account.pause()  # the request waits for something, and another response is built
        assert await building.build(2 * MIB) == 2 * MIB
        assert building.memory.held_bytes == 3 * MIB
        await building.large.build(building.growing(2 * MIB), context)
        assert building.memory.held_bytes == 5 * MIB
        asked.account.close()
        assert building.memory.held_bytes == 0

    asyncio.run(main())


def test_a_response_that_grows_too_large_is_refused_and_gives_back_what_it_held() -> None:
    building = Building()
    with pytest.raises(BrokerError) as caught:
        asyncio.run(building.build(RESPONSE_BYTES_MAX + 2 * MIB))
    assert caught.value.code == ErrorCode.INVALID_REQUEST
    assert building.memory.held_bytes == 0


def test_many_at_once_exceed_the_memory_by_one_response_at_most_and_all_end() -> None:
    building = Building()
    count = 50

    async def main() -> list[int]:
        async with asyncio.timeout(60):
            return await asyncio.gather(*(building.build(6 * MIB) for _ in range(count)))

    assert asyncio.run(main()) == [6 * MIB] * count
    assert building.held_most <= MEMORY_BYTES + RESPONSE_BYTES_MAX
    assert building.memory.held_bytes == 0


def test_a_response_waits_for_room_before_it_is_built() -> None:
    async def main() -> None:
        building = Building()
        building.memory.change(MEMORY_BYTES)  # of clients that do not read
        waiting = asyncio.ensure_future(building.build(2 * MIB))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
        assert building.memory.held_bytes == MEMORY_BYTES
        building.memory.change(-MEMORY_BYTES)
        assert await waiting == 2 * MIB

    asyncio.run(main())


def test_a_small_response_does_not_wait_for_a_large_one() -> None:
    async def main() -> None:
        building = Building()
        order: list[str] = []

        async def build(name: str, size: int) -> None:
            await building.build(size)
            order.append(name)

        async with asyncio.TaskGroup() as tasks:
            for name in ("large", "larger"):
                tasks.create_task(build(name, 6 * MIB))
            tasks.create_task(build("small", LARGE_BYTES))
        assert order[0] == "small"

    asyncio.run(main())


def test_work_for_a_client_that_has_left_ends_at_the_next_slice() -> None:
    async def main() -> None:
        building = Building()
        asked = Asked()
        work = asyncio.ensure_future(building.build(6 * MIB, asked))
        await asyncio.sleep(0)
        asked.peer.is_disconnected = True
        before_s = building.clock.monotonic_s()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert building.clock.monotonic_s() - before_s < 0.05
        assert building.memory.held_bytes == 0

    asyncio.run(main())


class Item(Struct):
    __slots__ = ("count", "items_inside")

    def __init__(self, count: Counter[str], items_inside: list[Item]) -> None:
        self.count = count
        self.items_inside = items_inside
        count["made"] += 1

    def __del__(self) -> None:
        self.count["freed"] += 1


class ManyItems(Building):
    """A response of very many items, which ends before it is complete."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()
        self.freed_most = 0

    def filling(self, end: Callable[[], None]) -> Steps[None]:
        first = yield from self._filling_one()
        inside = [Item(self.count, []) for _ in range(MANY)]
        end()
        while True:
            self.clock.advance_ms(10)
            yield LARGE_BYTES + len(first.items_inside) + len(inside)

    def _filling_one(self) -> Steps[Item]:
        inside: list[Item] = []
        for _ in range(MANY):
            inside.append(Item(self.count, []))
            self.clock.advance_ms(1)
            yield 0
        return Item(self.count, inside)

    async def count_freed(self) -> None:
        while True:
            before = self.count["freed"]
            await asyncio.sleep(0)
            self.freed_most = max(self.freed_most, self.count["freed"] - before)


def leave(asked: Asked) -> None:
    asked.peer.is_disconnected = True


def fail(_asked: Asked) -> None:
    raise BrokerError(ErrorCode.INVALID_REQUEST)


def grow(_asked: Asked) -> None:
    """Beyond the bound."""


@pytest.mark.parametrize("end", [leave, fail, grow])
def test_what_unfinished_work_has_built_is_freed_in_slices(end: Callable[[Asked], None]) -> None:
    async def main() -> None:
        building, asked = ManyItems(), Asked()
        counting = asyncio.ensure_future(building.count_freed())
        steps = building.filling(partial(end, asked))
        try:
            await building.large.build(steps, cast(Context, asked))
        except (BrokerError, asyncio.CancelledError) as error:
            without_traceback(error)
        del steps
        while building.count["freed"] < building.count["made"]:
            await asyncio.sleep(0)
        counting.cancel()
        assert 0 < building.freed_most <= 2 * PIECE_ITEMS * PIECES_PER_ITERATION

    asyncio.run(main())
