"""Whether a client is read, and its part of the memory that all requests share.

Owns      the connection's entry in the books of `request_memory.py`.
Leaves    why a connection may not want to be read to the connection.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ottla.network.request_memory import RequestMemory

if TYPE_CHECKING:
    from ottla.network.connection import Connection


class Reading:
    __slots__ = ("_complete_bytes", "_connection", "_has_asked", "_held_bytes", "_memory", "is_on")

    def __init__(self, memory: RequestMemory, connection: Connection) -> None:
        self._memory = memory
        self._connection = connection
        self._held_bytes = 0  # as the memory knows it
        self._complete_bytes = 0
        self._has_asked = False  # then the memory may have us in its queue
        self.is_on = True

    def hold(self, held_bytes: int, complete_bytes: int) -> None:
        """Frames take so much now; of this, complete ones that have not taken effect so much."""
        held, complete = held_bytes - self._held_bytes, complete_bytes - self._complete_bytes
        if held or complete:
            self._held_bytes, self._complete_bytes = held_bytes, complete_bytes
            self._memory.change(held, complete)

    def switch(self, transport: asyncio.Transport, *, wants: bool, has_partial: bool) -> bool:
        """Read, or do not; whether that changed."""
        wants = wants and self._is_allowed(has_partial)
        if wants == self.is_on or transport.is_closing():
            return False
        self.is_on = wants
        if wants:
            transport.resume_reading()
        else:
            transport.pause_reading()
        return True

    def close(self) -> None:
        self.hold(0, 0)
        self._memory.leave(self._connection)

    def _is_allowed(self, has_partial: bool) -> bool:
        """Only who has begun a frame takes memory by reading on."""
        if has_partial:
            self._has_asked = True
            return self._memory.may_read(self._connection)
        if self._has_asked:
            self._has_asked = False
            self._memory.leave(self._connection)
        return True
