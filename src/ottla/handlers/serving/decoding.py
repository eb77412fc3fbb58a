"""Decoding of requests: small ones on the event loop, those with many items in a thread.

Owns      the bound on the items of a request, and the choice of where it is decoded.
Promises  decoding blocks the loop for a few milliseconds at most: a request with more items than
          `ITEMS_HERE_MAX` is decoded again in a thread, and so is one that may have long fields
          of bytes. One thread decodes at a time, because several would take more memory and no
          less time; waiting requests are served fairly by address.
          It waits while those that have not taken effect hold `HELD_ITEMS_MAX` items, long texts
          included, so all of them together exceed that by one request at most. The request of a
          client that disconnects is dropped.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ottla.base.memory.stored_errors import empty_lists
from ottla.base.scheduling.threads import Threads
from ottla.handlers.serving.disposal import Pieces, pieces_of
from ottla.network.address_queue import FairLock
from ottla.protocol.errors import MalformedMessage, TooManyItems
from ottla.protocol.message import Message
from ottla.protocol.messages.produce_request import ProduceRequest

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
BYTES_HERE_MAX = 16 * 1024 * 1024  # copied in some milliseconds; record batches are not copied
# Of all requests that were decoded in a thread and have not taken effect.
HELD_ITEMS_MAX = ITEMS_MAX
# Of a frame, as memory of one more item: an item takes about 150 bytes, and a text of its own takes
# its length and 50 more. Without this, topics with long names would take several times the memory.
HELD_BYTES = 64


def decode_here(request: type[Message], frame: memoryview, version: int, at: int) -> Message | None:
    """For a frame that is not small. None if it has too many items or bytes for the event loop."""
    if len(frame) > BYTES_HERE_MAX and request is not ProduceRequest:
        return None
    try:
        return request.decode_bounded(frame, version, at, ITEMS_HERE_MAX)[0]
    except TooManyItems:
        return None


def decode_large(
    request: type[Message], frame: memoryview, version: int, at: int
) -> DecodedRequest:
    """May be called in any thread. TooManyItems if they would take too much memory."""
    items_max = min(ITEMS_MAX, ITEMS_MIN + len(frame) // ITEM_BYTES)
    try:
        message, _end, items = request.decode_counted(frame, version, at, items_max)
        return DecodedRequest(message, items + held_text(request, frame), pieces_of(message))
    except MalformedMessage as error:
        empty_lists(error)
        raise


def held_text(request: type[Message], frame: memoryview) -> int:
    """The texts of a request, in items. Record batches are not copied."""
    return 0 if request is ProduceRequest else len(frame) // HELD_BYTES


def current_task() -> asyncio.Task[object]:
    task = asyncio.current_task()
    assert task is not None
    return task


class DecodedRequest(NamedTuple):
    request: Message
    items: int  # that it counts as, until it has taken effect
    # Kept meanwhile: a handler may replace the lists of a request, which would free all their items
    # in one call.
    pieces: Pieces


class DecodingThread:
    """Decodes requests one at a time, while there is room for their items."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self.items = 0  # of decoded requests, until they are released
        self._turn = FairLock()
        self._room: asyncio.Future[None] | None = None  # the request that is next waits for it
        self._in_line: dict[Connection, asyncio.Task[object]] = {}  # those that wait

    async def decode(
        self,
        request: type[Message],
        frame: memoryview,
        version: int,
        at: int,
        connection: Connection,
        address: str,
    ) -> DecodedRequest:
        """The caller releases its items and disposes of its pieces when the request has taken
        effect."""
        await self._wait_in_line(connection, address)
        try:
            decoded = await self._threads.run(partial(decode_large, request, frame, version, at))
            self.items += decoded.items
            return decoded
        finally:
            self._turn.release()

    def release(self, items: int) -> None:
        self.items -= items
        if self._room is not None and not self._room.done() and self.items < HELD_ITEMS_MAX:
            self._room.set_result(None)

    def closed(self, connection: Connection) -> None:
        """The memory of a frame is counted with its connection, so it must not outlive that."""
        if (waiting := self._in_line.pop(connection, None)) is not None:
            waiting.cancel()

    async def _wait_in_line(self, connection: Connection, address: str) -> None:
        if connection.session is None:
            raise asyncio.CancelledError  # closed before this task started
        # Not a local variable: the task keeps its CancelledError, whose traceback has this frame.
        self._in_line[connection] = current_task()
        try:
            await self._turn.acquire(address)
            await self._wait_for_room()
        finally:
            self._in_line.pop(connection, None)

    async def _wait_for_room(self) -> None:
        """Called for the request that is decoded next."""
        if self.items < HELD_ITEMS_MAX:
            return
        self._room = asyncio.get_running_loop().create_future()
        try:
            await self._room
        except asyncio.CancelledError:
            self._turn.release()
            raise
        finally:
            self._room = None
