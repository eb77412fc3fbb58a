from __future__ import annotations

import asyncio

from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.host_addresses import HostAddresses


def test_a_name_stands_for_its_address_once_it_was_found() -> None:
    async def story() -> None:
        found = asyncio.Event()
        tasks = OwnedTasks()
        address_of = HostAddresses(tasks, found.set)
        assert address_of("::ffff:10.0.0.1") == "10.0.0.1"
        assert not len(tasks)
        assert [address_of("localhost") for _ in range(3)] == ["localhost"] * 3
        assert len(tasks) == 1
        await found.wait()
        assert address_of("localhost") == "127.0.0.1"

    asyncio.run(asyncio.wait_for(story(), 60))


def test_an_unknown_name_is_resolved_once() -> None:
    async def story() -> None:
        tasks = OwnedTasks()
        address_of = HostAddresses(tasks, lambda: None)
        assert address_of("..") == ".."  # no name at all, so that no server is asked
        await tasks.finish()
        assert address_of("..") == ".."
        assert not len(tasks)

    asyncio.run(asyncio.wait_for(story(), 60))
