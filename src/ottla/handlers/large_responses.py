"""Responses that take longer than one slice to build: in turns, within bounds, encoded in a thread.

Owns      the size that a response may have, and which large ones are built now.
Promises  a response that grows beyond `bytes_max` is refused. Of those above `LARGE_BYTES` one is
          built at a time, and only while the broker's memory for responses has room; smaller ones
          never wait for them. What is being built counts in that memory. Work whose client has
          left ends at its next yield.
Leaves    to the handler that what it yields is about what its response takes when it is encoded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from ottla.base.turns import Turns, Work
from ottla.handlers.context import Peer
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

T = TypeVar("T")

LARGE_BYTES = 1024 * 1024


class Memory(Protocol):
    """What responses take that are built or not sent yet, over all connections."""

    def change(self, count: int, /) -> None: ...

    async def wait_for_room(self) -> None: ...


class LargeResponses:
    def __init__(self, turns: Turns, memory: Memory, bytes_max: int) -> None:
        self._turns = turns
        self._memory = memory
        self.bytes_max = bytes_max
        self._building = asyncio.Lock()

    @asynccontextmanager
    async def build(self, work: Work[T], peer: Peer) -> AsyncIterator[T]:
        """What comes of the work. Until the context is left, its bytes are counted."""
        builder = _Builder(self._memory, self._building)
        try:
            while True:
                check_size(work.grown, self.bytes_max)
                await builder.grow_to(work.grown)
                if peer.is_gone:
                    raise asyncio.CancelledError
                if await self._turns.go_on(work):
                    break
            check_size(work.grown, self.bytes_max)
            yield work.result
        finally:
            work.close()
            builder.close()


def check_size(response_bytes: int, bytes_max: int) -> None:
    if response_bytes > bytes_max:
        what = f"The response would exceed {bytes_max} bytes: ask for less at a time."
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)


class _Builder:
    """What one response holds while it is built."""

    def __init__(self, memory: Memory, building: asyncio.Lock) -> None:
        self._memory = memory
        self._building = building
        self._held_bytes = 0
        self._has_lock = False

    async def grow_to(self, size: int) -> None:
        if size > LARGE_BYTES and not self._has_lock:
            await self._building.acquire()
            self._has_lock = True
            await self._memory.wait_for_room()
        self._memory.change(size - self._held_bytes)
        self._held_bytes = size

    def close(self) -> None:
        self._memory.change(-self._held_bytes)
        if self._has_lock:
            self._building.release()
