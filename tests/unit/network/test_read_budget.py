"""What is read in one iteration of the event loop is bounded over all connections."""

from __future__ import annotations

import asyncio

from ottla.network.read_budget import ITERATION_BYTES_MAX, SMALL_READ_BYTES, ReadBudget
from ottla.protocol.framing import READ_BYTES_MAX


def test_reads_are_small_once_much_was_read_until_the_next_iteration() -> None:
    async def story() -> list[int]:
        budget, most = ReadBudget(asyncio.get_running_loop()), []
        for _ in range(2):
            for _ in range(ITERATION_BYTES_MAX // READ_BYTES_MAX):
                most.append(budget.bytes_max)
                budget.spend(READ_BYTES_MAX)
            most.append(budget.bytes_max)
            await asyncio.sleep(0)
        return [*most, budget.bytes_max]

    one_turn = [READ_BYTES_MAX] * (ITERATION_BYTES_MAX // READ_BYTES_MAX) + [SMALL_READ_BYTES]
    assert asyncio.run(story()) == [*one_turn, *one_turn, READ_BYTES_MAX]
