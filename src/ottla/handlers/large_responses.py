"""Responses that take longer than one slice to build: in turns, within bounds, encoded in a thread.

Owns      the size that a response may have, and which of them are built now.
Promises  a response that grows beyond `bytes_max` is refused. A response waits until the broker's
          memory for responses has room, and then takes `LARGE_BYTES` of it; of those that grow
          beyond that, one is built at a time, so the memory is exceeded by one response at most.
          Whoever builds waits for nothing that another builder holds, but for that one. Work
          whose client has left ends at its next slice.
Leaves    to the handler that what it yields is about what its response takes when it is encoded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from ottla.base.collector import without_full_pass
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
            await builder.begin()
            with without_full_pass():
                yield await self._run(work, builder, peer)
        finally:
            work.close()
            builder.close()

    async def _run(self, work: Work[T], builder: _Builder, peer: Peer) -> T:
        is_done = False
        while not is_done:
            await builder.grow_to(work.grown)
            if peer.is_gone:
                raise asyncio.CancelledError
            is_done = await self._turns.go_on(work)
            check_size(work.grown, self.bytes_max)
        return work.result


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

    async def begin(self) -> None:
        await self._memory.wait_for_room()
        self._hold(LARGE_BYTES)

    async def grow_to(self, size: int) -> None:
        if size <= LARGE_BYTES:
            return
        if not self._has_lock:
            await self._building.acquire()
            self._has_lock = True
        self._hold(size)

    def _hold(self, size: int) -> None:
        self._memory.change(size - self._held_bytes)
        self._held_bytes = size

    def close(self) -> None:
        self._memory.change(-self._held_bytes)
        if self._has_lock:
            self._building.release()
