"""Decoding of requests: small ones on the event loop, those with many items in a thread.

Owns      the bound on the items of a request, and the choice of where it is decoded.
Promises  decoding blocks the loop for a few milliseconds at most: a request with more items than
          `ITEMS_HERE_MAX` is decoded again in a thread. One thread decodes at a time, because
          several would take more memory and no less time; who waits is served fairly by address.
          The request of a client that disconnects is dropped.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from ottla.base.memory.stored_errors import empty_lists
from ottla.base.scheduling.threads import Threads
from ottla.network.address_queue import FairLock
from ottla.protocol.errors import MalformedMessage, TooManyItems
from ottla.protocol.message import Message

if TYPE_CHECKING:
    from ottla.network.connection import Connection

# In all arrays of a request: a few for each partition that a cluster may have. As objects they
# take about a hundred megabytes.
ITEMS_MAX = 700_000
# More items than this must take four bytes on average, as numbers do. Otherwise a frame of empty
# structures, of two bytes each, would take 58 times its size.
ITEMS_MIN = 20_000
ITEM_BYTES = 4
SMALL_FRAME_BYTES = 4 * 1024  # decoded in about a millisecond, whatever it contains
ITEMS_HERE_MAX = 2_000


def decode_here(request: type[Message], frame: memoryview, version: int, at: int) -> Message | None:
    """For a frame that is not small. None if it has too many items for the event loop."""
    try:
        return request.decode_bounded(frame, version, at, ITEMS_HERE_MAX)[0]
    except TooManyItems:
        return None


def decode_large(request: type[Message], frame: memoryview, version: int, at: int) -> Message:
    """For any thread. TooManyItems if they would take too much memory."""
    items_max = min(ITEMS_MAX, ITEMS_MIN + len(frame) // ITEM_BYTES)
    try:
        return request.decode_bounded(frame, version, at, items_max)[0]
    except MalformedMessage as error:
        empty_lists(error)
        raise


class DecodingThread:
    """Decodes requests one at a time."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._turn = FairLock()
        self._in_line: dict[Connection, asyncio.Task[object]] = {}  # those that wait

    async def decode(
        self,
        request: type[Message],
        frame: memoryview,
        version: int,
        at: int,
        connection: Connection,
        address: str,
    ) -> Message:
        await self._wait_in_line(connection, address)
        try:
            return await self._threads.run(partial(decode_large, request, frame, version, at))
        finally:
            self._turn.release()

    def closed(self, connection: Connection) -> None:
        """The memory of a frame is counted with its connection, so it must not outlive that."""
        if (waiting := self._in_line.pop(connection, None)) is not None:
            waiting.cancel()

    async def _wait_in_line(self, connection: Connection, address: str) -> None:
        if connection.session is None:
            raise asyncio.CancelledError  # closed before this task started
        task = asyncio.current_task()
        assert task is not None
        self._in_line[connection] = task
        try:
            await self._turn.acquire(address)
        finally:
            self._in_line.pop(connection, None)
