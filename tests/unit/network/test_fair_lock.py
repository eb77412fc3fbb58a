"""One owner at a time, chosen fairly by address."""

from __future__ import annotations

import asyncio

import pytest

from ottla.network.address_queue import FairLock


class Users:
    def __init__(self) -> None:
        self.lock = FairLock()
        self.served: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._owners = 0

    async def start(self, address: str, count: int = 1) -> None:
        self.tasks += [asyncio.create_task(self._use(address)) for _ in range(count)]
        await asyncio.sleep(0)

    async def _use(self, address: str) -> None:
        await self.lock.acquire(address)
        try:
            self._owners += 1
            assert self._owners == 1
            self.served.append(address)
            await asyncio.sleep(0)
        finally:
            self._owners -= 1
            self.lock.release()

    async def all_done(self) -> None:
        await asyncio.wait_for(asyncio.gather(*self.tasks, return_exceptions=True), 10)


def test_a_crowd_of_one_address_does_not_delay_another_address() -> None:
    async def story() -> None:
        users = Users()
        await users.start("crowd", 50)
        await users.start("other", 2)
        await users.all_done()
        assert [at for at, each in enumerate(users.served) if each == "other"][-1] <= 5
        assert len(users.served) == 52
        await users.start("again")
        await users.all_done()
        assert users.served[-1] == "again"

    asyncio.run(story())


@pytest.mark.parametrize("turns", range(6))
def test_the_lock_goes_to_the_next_when_a_waiter_is_cancelled(turns: int) -> None:
    async def story() -> None:
        users = Users()
        await users.start("a", 3)
        for _ in range(turns):
            await asyncio.sleep(0)
        users.tasks[2].cancel()
        await users.start("b")
        await users.all_done()
        assert users.served.count("b") == 1
        assert users.served.count("a") >= 2
        await asyncio.wait_for(users.lock.acquire("c"), 1)

    asyncio.run(story())
