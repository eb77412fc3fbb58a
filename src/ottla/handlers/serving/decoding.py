"""Requests from their frames: small ones at once, those with many items in a thread.

Owns      how many items a request may have, and which are decoded on the event loop.
Promises  decoding keeps the loop for a few milliseconds at most: a request with more items than
          `ITEMS_HERE_MAX` is begun again in a thread. One thread decodes at a time, because several
          would take more memory and no less time. A client that leaves takes its request along.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ottla.base.collector import without_full_pass
from ottla.protocol.errors import TooManyItems
from ottla.protocol.message import Message

if TYPE_CHECKING:
    from ottla.network.connection import Connection

# Of all arrays of a request: a few for each partition that a cluster may have. As objects they
# take about a hundred megabytes.
ITEMS_MAX = 700_000
# Beyond so many an item must take four bytes on average, as numbers do. Without that bound a frame
# of empty structures, of two bytes each, would take 58 times its size.
ITEMS_MIN = 20_000
ITEM_BYTES = 4
SMALL_FRAME_BYTES = 4 * 1024  # whatever it is made of: decoded in about a millisecond
ITEMS_HERE_MAX = 2_000


def decode_here(request: type[Message], frame: memoryview, version: int, at: int) -> Message | None:
    """Of a frame that is not small. None where it has too many items for the event loop."""
    try:
        return request.decode_bounded(frame, version, at, ITEMS_HERE_MAX)[0]
    except TooManyItems:
        return None


def decode_large(request: type[Message], frame: memoryview, version: int, at: int) -> Message:
    """For any thread. TooManyItems where they would fill the memory."""
    items_max = min(ITEMS_MAX, ITEMS_MIN + len(frame) // ITEM_BYTES)
    return request.decode_bounded(frame, version, at, items_max)[0]


class DecodingThread:
    """Takes requests one after the other."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._in_line: dict[Connection, asyncio.Task[object]] = {}  # who waits for it

    async def decode(
        self,
        request: type[Message],
        frame: memoryview,
        version: int,
        at: int,
        connection: Connection,
    ) -> Message:
        await self._wait_in_line(connection)
        try:
            with without_full_pass():
                return await asyncio.to_thread(decode_large, request, frame, version, at)
        finally:
            self._turn.release()

    def closed(self, connection: Connection) -> None:
        """Requests are counted with their connections: the frame of one that is gone would take
        memory that nobody knows of, and there may be many."""
        if (waiting := self._in_line.pop(connection, None)) is not None:
            waiting.cancel()

    async def _wait_in_line(self, connection: Connection) -> None:
        if connection.session is None:
            raise asyncio.CancelledError  # gone before this task had its first turn
        task = asyncio.current_task()
        assert task is not None
        self._in_line[connection] = task
        try:
            await self._turn.acquire()
        finally:
            self._in_line.pop(connection, None)
