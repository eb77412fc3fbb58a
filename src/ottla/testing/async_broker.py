"""A real broker for tests in asyncio's style: the same process, and nothing blocks the loop.

async with AsyncBroker() as broker:
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

from ottla.testing.broker import RunningBroker


class AsyncBroker:
    def __init__(self, **options: Any) -> None:
        """Options are those of `Broker`, which is at hand as `.broker`."""
        self.broker = RunningBroker(**options)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await asyncio.to_thread(self.broker.close)

    @property
    def bootstrap_servers(self) -> str:
        return self.broker.bootstrap_servers

    async def start(self) -> None:
        await asyncio.to_thread(self.broker.start)

    async def stop(self) -> int:
        return await asyncio.to_thread(self.broker.stop)

    async def restart(self) -> None:
        await asyncio.to_thread(self.broker.restart)

    async def kill(self) -> None:
        await asyncio.to_thread(self.broker.kill)
