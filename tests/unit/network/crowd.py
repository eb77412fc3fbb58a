"""Clients that share a request memory, in a time that is moved by hand.

Each has the frame reader and the reading of a connection; only sockets and requests are left out:
a whole frame is served at once, or when the test requests it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import cast

from ottla.network.memory_pressure import MemoryPressure
from ottla.network.read_control import ReadControl
from ottla.network.request_memory import RequestAccount, RequestMemory
from ottla.network.response_memory import ResponseMemory
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason
from ottla.protocol.framing import LENGTH_BYTES, FrameReader, Scratch

STEP_S = 0.2
TICK_S = 1.0


class Transport:
    """What `Reading` needs of one: the client records whether it is read."""

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Crowd:
    def __init__(self, bytes_max: int, rules: EvictionRules | None = None) -> None:
        self.now_s = 1000.0
        self.memory = RequestMemory(bytes_max, rules)
        self.scratch = Scratch()
        self.clients: list[Client] = []
        self.held_peak = 0
        self._pressure = MemoryPressure(self.memory, ResponseMemory(1), TICK_S)
        self.memory.when_overfull(lambda: self._overfull.append(True))
        self._overfull: list[bool] = []
        self._next_tick_s = self.now_s + TICK_S

    def client(self, address: str = "127.0.0.1") -> Client:
        client = Client(self, address)
        self.clients.append(client)
        return client

    def step(self) -> None:
        """Advance time by a step; the network checks its memory as it does periodically."""
        self.now_s += STEP_S
        self.settle()
        if self.now_s >= self._next_tick_s:
            self._next_tick_s += TICK_S
            self._pressure.tick(self.now_s)
        self.settle()

    def settle(self) -> None:
        self.held_peak = max(self.held_peak, self.memory.held_bytes)
        if self._overfull:
            self._overfull.clear()
            self.memory.evict(self.now_s)
        for client in self.clients:
            client.take_turn()

    def steps(self, seconds: float) -> Iterator[None]:
        for _ in range(round(seconds / STEP_S)):
            self.step()
            yield


class Client:
    def __init__(self, crowd: Crowd, address: str) -> None:
        self.address = address
        self.evicted: Reason | None = None
        self.frames = 0
        self.complete_bytes = 0  # of requests that are kept
        self.keeps = False  # requests are not served
        self.is_stuck = False
        self._crowd = crowd
        self._reader = FrameReader(100 * 1024 * 1024, crowd.scratch)
        self._control = ReadControl(crowd.memory, self, address)
        self._transport = cast(asyncio.Transport, Transport())
        self._unsent = 0  # bytes of a frame that the client still has

    # What the client does

    def announce(self, size: int) -> None:
        self._unsent = size
        self.send_raw(size.to_bytes(LENGTH_BYTES, "big"))

    def send(self, count: int) -> int:
        """Send so much of the frame that was announced, as far as it is read; how much was."""
        sent = 0
        while (
            sent < count
            and self._unsent
            and (size := self._receive(min(count - sent, self._unsent)))
        ):
            sent += size
            self._unsent -= size
        return sent

    def send_raw(self, data: bytes) -> None:
        assert self._receive(len(data), data) == len(data)

    @property
    def account(self) -> RequestAccount:
        return self._control.account

    @property
    def is_whole(self) -> bool:
        return not self._unsent

    # What the connection does

    def _receive(self, count: int, data: bytes | None = None) -> int:
        if self.evicted is not None or not self._control.is_reading:
            return 0
        is_tight = self._crowd.memory.is_tight and not self._control.has_room
        view = self._reader.next_buffer(is_tight=is_tight)
        count = min(count, len(view))
        if data is not None:
            view[:count] = data[:count]
        frames = self._reader.received(count)
        self._control.received(self._reader, self._crowd.now_s, has_frames=bool(frames))
        self.frames += len(frames)
        if self.keeps:
            self.complete_bytes += sum(map(len, frames))
        self.take_turn()
        return count

    def take_turn(self) -> None:
        if self.evicted is None:
            now_s = self._crowd.now_s
            self._control.update(self._reader, self.complete_bytes)
            self._control.note_stalled(now_s, is_stalled=self.is_stuck)
            self._control.switch(
                self._transport, self._reader, now_s, wants=not self.complete_bytes
            )

    def resume_after_memory(self) -> None:
        pass  # its turn comes with the next step

    def evict(self, reason: Reason) -> None:
        self.evicted = reason
        self._control.close()
