"""Whether a client is read, and its part of the memory that all requests share.

Owns      the connection's account in `request_memory.py`.
Leaves    why a connection may not want to be read to the connection.
"""

from __future__ import annotations

import asyncio

from ottla.network.progress import Progress
from ottla.network.request_memory import Account, Reader, RequestMemory
from ottla.network.waiting_readers import Standing
from ottla.protocol.framing import FrameReader


class Reading:
    __slots__ = ("_has_asked", "_memory", "account", "has_partial", "is_on")

    def __init__(self, memory: RequestMemory, reader: Reader, address: str) -> None:
        self._memory = memory
        self.account = Account(reader, address)
        self.has_partial = False  # a frame is incomplete, as far as is known here
        self._has_asked = False  # then the memory may have us in its queue
        self.is_on = True

    @property
    def has_room(self) -> bool:
        """Whether the frame that is read was given its room."""
        return self.account.reserved_bytes > 0

    def received(self, reader: FrameReader, now_s: float, *, has_frames: bool) -> bool:
        """Some of an incomplete frame has arrived, or what was incomplete is whole; whether it
        takes what it took before, and needs no more."""
        account = self.account
        if has_frames:
            self._memory.arrived_whole(account, now_s)
        self.has_partial = reader.has_partial_frame
        if not self.has_partial:
            return False
        if account.progress is None:
            account.progress = Progress(now_s, is_on=self.is_on)
        account.progress.moved(now_s, reader.partial_bytes)
        taken_bytes = account.used_bytes - account.complete_bytes
        return taken_bytes == reader.held_bytes and not reader.growth_bytes

    def hold(self, reader: FrameReader, complete_bytes: int) -> None:
        """Frames take so much now: whole ones so much, and what the reader has."""
        account = self.account
        used_bytes, frame_bytes = complete_bytes + reader.held_bytes, reader.announced_bytes
        if not reader.has_partial_frame:
            account.progress = None
            self.has_partial = False
        if (
            used_bytes != account.used_bytes
            or complete_bytes != account.complete_bytes
            or frame_bytes != account.frame_bytes
        ):
            self._memory.change(account, used_bytes, complete_bytes, frame_bytes)

    def stick(self, now_s: float, *, is_stuck: bool) -> None:
        """Note whether frames wait for something that the client must do."""
        if not is_stuck:
            self.account.stuck_since_s = None
        elif self.account.stuck_since_s is None:
            self.account.stuck_since_s = now_s

    def is_known(self) -> None:
        """The client was sent a response."""
        self.account.standing = max(self.account.standing, Standing.KNOWN)

    def switch(
        self, transport: asyncio.Transport, reader: FrameReader, now_s: float, *, wants: bool
    ) -> bool:
        """Read, or do not; whether that changed."""
        wants = wants and self._is_allowed(reader, now_s)
        if wants == self.is_on or transport.is_closing():
            return False
        self.is_on = wants
        if self.account.progress is not None:
            self.account.progress.switch(now_s, is_on=wants)
        if wants:
            transport.resume_reading()
        else:
            transport.pause_reading()
        return True

    def close(self) -> None:
        self.account.progress = None
        self._memory.leave(self.account)
        self._memory.change(self.account, 0, 0, 0)

    def _is_allowed(self, reader: FrameReader, now_s: float) -> bool:
        """Only a frame that lacks room takes memory by being read on."""
        if reader.has_partial_frame:
            growth_bytes = reader.growth_bytes
            if not growth_bytes:
                return True
            self._has_asked = True
            return self._memory.may_grow(self.account, growth_bytes, now_s)
        if self._has_asked:
            self._has_asked = False
            self._memory.leave(self.account)
        return True
