"""The bound on what all responses together may hold in memory (`ottla.queued.response.bytes.max`).

Counted are bytes of responses that are built and not sent yet; ranges of files are not, because
they are read when the socket has room for them. Whoever builds a response counts what it holds,
and releases it when somebody else counts it, or when it is gone.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict


class ResponseMemory:
    """Used from one event loop."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.held_bytes = 0
        # Oldest first; an OrderedDict, because the first and any other are removed in no time.
        self._waiting: OrderedDict[asyncio.Event, None] = OrderedDict()

    @property
    def has_room(self) -> bool:
        return self.held_bytes < self.bytes_max

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def change(self, bytes: int) -> None:  # noqa: A002
        """Add so many (negative: release them)."""
        self.held_bytes += bytes
        if bytes < 0 and self._waiting:
            self._wake_oldest()

    async def wait_for_room(self) -> None:
        """Return once `held_bytes < bytes_max`; whoever asked earlier goes first.

        What the caller adds before it awaits something else counts for those behind it.
        """
        if self.has_room and not self._waiting:
            return
        turn = asyncio.Event()
        self._waiting[turn] = None
        try:
            while not turn.is_set():
                await turn.wait()
                if not self.has_room:
                    turn.clear()  # somebody who had not to wait was quicker
        finally:
            del self._waiting[turn]
            # Not at once: the caller first adds what it needs.
            asyncio.get_running_loop().call_soon(self._wake_oldest)

    def _wake_oldest(self) -> None:
        if self._waiting and self.has_room:
            next(iter(self._waiting)).set()
