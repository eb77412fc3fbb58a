"""A real broker for tests in asyncio's style: the same process, and nothing blocks the loop.

async with AsyncBroker() as broker:
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

from ottla.testing.broker import RunningBroker


class AsyncBroker:
    """`Broker` for coroutines. What takes no time, such as `log` or `pid`, is on `.broker`."""

    def __init__(self, **options: Any) -> None:
        """Options are those of `Broker`."""
        self.broker = RunningBroker(**options)

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect, as `host:port`."""
        return self.broker.bootstrap_servers

    def get_bootstrap_server(self) -> str:
        """`bootstrap_servers`, by the name that testcontainers' KafkaContainer gives it."""
        return self.broker.bootstrap_servers

    async def start(self) -> Self:
        """Start the process and wait until it accepts connections; itself, for chaining."""
        await asyncio.to_thread(self.broker.start)
        return self

    async def stop(self) -> int:
        """Stop cleanly (SIGTERM); returns the exit code."""
        return await asyncio.to_thread(self.broker.stop)

    async def restart(self) -> Self:
        """Stop cleanly and start again; returns itself, for chaining."""
        await asyncio.to_thread(self.broker.restart)
        return self

    async def kill(self) -> None:
        """End the process as a crash would (SIGKILL)."""
        await asyncio.to_thread(self.broker.kill)

    async def pause(self) -> None:
        """Stop the process where it is (SIGSTOP): connections stay open, nothing is answered."""
        await asyncio.to_thread(self.broker.pause)

    async def resume(self) -> None:
        """Let a paused process go on (SIGCONT)."""
        await asyncio.to_thread(self.broker.resume)

    async def close(self) -> None:
        """End it, with its data unless `data` was given."""
        await asyncio.to_thread(self.broker.close)
