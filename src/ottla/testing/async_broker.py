"""A real broker for tests in asyncio's style: the same process, and nothing blocks the loop.

async with AsyncBroker() as broker:
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, Self

from ottla.testing.broker import RunningBroker
from ottla.testing.controls import BrokerClock, BrokerFaults

__tracebackhide__ = True  # pytest shows failures at the line of the test


class AsyncClock:
    """The clock of a broker, see `BrokerClock`."""

    def __init__(self, clock: BrokerClock) -> None:
        self._clock = clock

    async def advance(self, seconds: float | timedelta = 0.0, **units: float) -> None:
        """Move the broker's time ahead, by seconds or by `minutes`, `hours` and `days`."""
        await asyncio.to_thread(self._clock.advance, seconds, **units)

    def now_ms(self) -> int:
        """The broker's wall-clock time, in milliseconds since 1970."""
        return self._clock.now_ms()


class AsyncFaults:
    """Faults of a broker, see `BrokerFaults`."""

    def __init__(self, faults: BrokerFaults) -> None:
        self._faults = faults

    async def fail(self, api: str | int, error: str | int, **when: int | None) -> None:
        """Answer with an error code."""
        await asyncio.to_thread(self._faults.fail, api, error, **when)  # type: ignore[arg-type]

    async def delay(self, api: str | int, seconds: float, **when: int | None) -> None:
        """Answer later."""
        await asyncio.to_thread(self._faults.delay, api, seconds, **when)  # type: ignore[arg-type]

    async def drop(self, api: str | int, **how: Any) -> None:
        """Close the connection instead of answering."""
        await asyncio.to_thread(self._faults.drop, api, **how)

    async def fill_disk(self) -> None:
        """Let the broker's disk be full."""
        await asyncio.to_thread(self._faults.fill_disk)

    async def clear(self) -> None:
        """End all faults."""
        await asyncio.to_thread(self._faults.clear)

    async def requests(self, api: str | int) -> int:
        """How many requests of an API have come."""
        return await asyncio.to_thread(self._faults.requests, api)


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

    @property
    def clock(self) -> AsyncClock:
        """Its clock; needs `controls=True`."""
        return AsyncClock(self.broker.clock)

    @property
    def faults(self) -> AsyncFaults:
        """Its faults; need `controls=True`."""
        return AsyncFaults(self.broker.faults)

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
        """Resume a paused process (SIGCONT)."""
        await asyncio.to_thread(self.broker.resume)

    async def close(self) -> None:
        """End it, with its data unless `data` was given."""
        await asyncio.to_thread(self.broker.close)
