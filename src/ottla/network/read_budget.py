"""The bound on what is read in one iteration of the event loop, over all connections.

Each connection with data is read once in an iteration. Together, hundreds of them with a megabyte
each would block the loop for a tenth of a second. Memory that is cleared for a read counts as well:
a client may then send a few bytes only.
"""

from __future__ import annotations

import asyncio

from ottla.protocol.framing import READ_BYTES_MAX

ITERATION_BYTES_MAX = 8 * 1024 * 1024
SMALL_READ_BYTES = 16 * 1024  # of each connection once the bound is reached; not counted


class ReadBudget:
    __slots__ = ("_left", "_loop", "bytes_max")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._left = ITERATION_BYTES_MAX
        self.bytes_max = READ_BYTES_MAX  # of the next read

    def spend(self, count: int) -> None:
        """Count bytes that were read or cleared."""
        if self._left == ITERATION_BYTES_MAX:
            self._loop.call_soon(self._renew)
        self._left -= count
        if self._left <= 0:
            self.bytes_max = SMALL_READ_BYTES

    def _renew(self) -> None:
        self._left, self.bytes_max = ITERATION_BYTES_MAX, READ_BYTES_MAX
