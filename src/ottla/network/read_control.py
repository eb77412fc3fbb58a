"""Whether a connection is read, and its account of request memory.

Owns      the connection's account in `request_memory.py`.
Leaves    all other reasons not to read to the connection.
"""

from __future__ import annotations

import asyncio

from ottla.network.eviction import MemoryHolder
from ottla.network.memory_queue import Reputation
from ottla.network.request_memory import RequestAccount, RequestMemory
from ottla.network.transfer_rate import TransferRate
from ottla.protocol.framing import FrameReader


class ReadControl:
    __slots__ = ("_has_requested", "_memory", "account", "has_partial", "is_reading")

    def __init__(self, memory: RequestMemory, holder: MemoryHolder, address: str) -> None:
        self._memory = memory
        self.account = RequestAccount(holder, address)
        self.has_partial = False  # a frame was incomplete at the last call
        self._has_requested = False  # for memory: the account may wait in its queue
        self.is_reading = True

    @property
    def has_room(self) -> bool:
        """Whether memory is reserved for the frame that arrives."""
        return self.account.reserved_bytes > 0

    def received(self, reader: FrameReader, now_s: float, *, has_frames: bool) -> bool:
        """Bytes of an incomplete frame have arrived, or its end. True if the frame is still
        incomplete, and neither holds nor needs more memory than before."""
        account = self.account
        if has_frames:
            self._memory.frame_completed(account, now_s)
        self.has_partial = reader.has_partial_frame
        if not self.has_partial:
            return False
        if account.rate is None:
            account.rate = TransferRate(now_s, is_active=self.is_reading)
        account.rate.record(now_s, reader.partial_bytes)
        partial_bytes = account.used_bytes - account.complete_bytes
        return partial_bytes == reader.held_bytes and not reader.growth_bytes

    def update(self, reader: FrameReader, complete_bytes: int) -> None:
        """Count what the frames take now: `complete_bytes`, and what the reader holds."""
        account = self.account
        used_bytes, frame_bytes = complete_bytes + reader.held_bytes, reader.announced_bytes
        if not reader.has_partial_frame:
            account.rate = None
            self.has_partial = False
        if (
            used_bytes != account.used_bytes
            or complete_bytes != account.complete_bytes
            or frame_bytes != account.frame_bytes
        ):
            self._memory.change(account, used_bytes, complete_bytes, frame_bytes)

    def note_stalled(self, now_s: float, *, is_stalled: bool) -> None:
        """Whether complete frames wait for an action of the client."""
        if not is_stalled:
            self.account.stalled_since_s = None
        elif self.account.stalled_since_s is None:
            self.account.stalled_since_s = now_s

    def note_whole_frame(self) -> None:
        """A large frame has arrived in one read."""
        self.account.reputation = Reputation.PROMPT

    def note_response(self) -> None:
        """The client was sent a response."""
        self.account.reputation = max(self.account.reputation, Reputation.ANSWERED)

    def switch(
        self, transport: asyncio.Transport, reader: FrameReader, now_s: float, *, wants: bool
    ) -> bool:
        """Read if the connection can use data and has memory; True if that changed."""
        wants = wants and self._has_memory(reader, now_s)
        if wants == self.is_reading or transport.is_closing():
            return False
        self.is_reading = wants
        if self.account.rate is not None:
            self.account.rate.switch(now_s, is_active=wants)
        if wants:
            transport.resume_reading()
        else:
            transport.pause_reading()
        return True

    def close(self) -> None:
        self.account.rate = None
        self._memory.leave(self.account)
        self._memory.change(self.account, 0, 0, 0)

    def _has_memory(self, reader: FrameReader, now_s: float) -> bool:
        """False if a partial frame needs more memory: one without a buffer for all of it."""
        if reader.has_partial_frame:
            growth_bytes = reader.growth_bytes
            if not growth_bytes:
                return True
            self._has_requested = True
            return self._memory.may_grow(self.account, growth_bytes, now_s)
        if self._has_requested:
            self._has_requested = False
            self._memory.leave(self.account)
        return True
