"""Requests to another broker whose connection is lost."""

from __future__ import annotations

import asyncio
import socket

from ottla.base.scheduling.callback_queue import TASKS_MAX
from ottla.network.channel.errors import ResponseLost
from ottla.network.channel.outbound import OutboundConnection
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest

MANY = 20 * TASKS_MAX


def test_few_of_very_many_requests_fail_in_an_iteration_of_the_event_loop() -> None:
    async def story() -> None:
        failed: list[int] = []
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: OutboundConnection("peer", "test", 1 << 20), sock=ours
        )

        async def ask(number: int) -> None:
            try:
                await connection.send(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("a", "1"), 60)
            except ResponseLost:
                failed.append(number)

        with theirs:
            asking = [asyncio.create_task(ask(number)) for number in range(MANY)]
            await asyncio.sleep(0)
            connection.close("the peer is gone")
            while len(failed) < MANY:
                before = len(failed)
                await asyncio.sleep(0)
                assert len(failed) - before <= 2 * TASKS_MAX
            await asyncio.gather(*asking)
        assert failed == list(range(MANY))

    asyncio.run(story())
