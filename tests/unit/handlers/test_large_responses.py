"""Responses that take several slices are built within bounds, and never wait for ever."""

from __future__ import annotations

import asyncio

import pytest

from ottla.base.turns import Slices, Turns
from ottla.handlers.context import Peer
from ottla.handlers.large_responses import LARGE_BYTES, LargeResponses
from ottla.network.response_memory import ResponseMemory
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.testing.clock import ManualClock

MIB = 1024 * 1024
MEMORY_BYTES = 4 * MIB
RESPONSE_BYTES_MAX = 8 * MIB


class Building:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.turns = Turns(self.clock)
        self.memory = ResponseMemory(MEMORY_BYTES)
        self.large = LargeResponses(self.turns, self.memory, RESPONSE_BYTES_MAX)
        self.held_most = 0

    def growing(self, size: int) -> Slices[int]:
        """A slice for every half of a mebibyte."""
        for _ in range(0, size, MIB // 2):
            self.clock.advance_ms(10)
            self.held_most = max(self.held_most, self.memory.held_bytes)
            yield MIB // 2
        return size

    async def build(self, size: int, peer: Peer | None = None) -> int:
        work, is_done = self.turns.begin(self.growing(size))
        assert not is_done
        async with self.large.build(work, peer or Peer("L", "h", 1)) as result:
            return result


def test_what_is_built_counts_in_the_memory_until_it_is_handed_on() -> None:
    async def main() -> None:
        building = Building()
        work, _ = building.turns.begin(building.growing(3 * MIB))
        async with building.large.build(work, Peer("L", "h", 1)) as size:
            assert size == 3 * MIB
            assert building.memory.held_bytes >= 2 * MIB
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
        peer = Peer("L", "h", 1)
        work = asyncio.ensure_future(building.build(6 * MIB, peer))
        await asyncio.sleep(0)
        peer.is_gone = True
        before_s = building.clock.monotonic_s()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert building.clock.monotonic_s() - before_s < 0.05
        assert building.memory.held_bytes == 0

    asyncio.run(main())
