"""How many lines of Python run in one iteration of the event loop: work, counted instead of timed.

    with counted_world() as world:
        steps = world.steps_of(request, version)      # of the longest turn until it was answered

A line stands for `LINE_S` on the clock that slices are measured with, so a slice of work ends after
the same number of lines on every machine. Lines in other threads do not count, nor does what C code
does in one line: a sort of a million items is one step. `make faults` measures those in seconds.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, ParamSpec, TypeVar, cast

import pytest
from tests.unit.handlers.world import FakeConnection, World

from ottla.base.scheduling.threads import Threads
from ottla.handlers.serving import decoding
from ottla.network.connection import Connection
from ottla.network.request_server import Answer
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message
from ottla.testing.clock import ManualClock

P = ParamSpec("P")
T = TypeVar("T")
LINE_S = 2e-5  # two hundred times what it takes: short slices show with few items what many do
IDLE_LINES = 100  # a turn with fewer does nothing for the request
IDLE_TURNS = 60  # after which it waits for something that does not come
IDLE_S = 0.002


class LineCounter:
    """Counts lines while it is on; from the clock's view, time passes with them."""

    def __init__(self) -> None:
        self.lines = 0
        self.longest_turn = 0

    def on(self) -> None:
        sys.settrace(self._entered)

    def off(self) -> None:
        sys.settrace(None)

    def _entered(self, _frame: FrameType, _event: str, _argument: object) -> Any:
        return self._passed

    def _passed(self, _frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            self.lines += 1
        return self._passed


class CountingLoop(asyncio.SelectorEventLoop):
    """Notes the turn in which most lines ran, and the one that freed most blocks of memory."""

    def __init__(self, counter: LineCounter) -> None:
        super().__init__()
        self._counter = counter
        self.most_freed = 0  # less what was allocated in the same turn

    def _run_once(self) -> None:
        before, blocks = self._counter.lines, sys.getallocatedblocks()
        super()._run_once()  # type: ignore[misc]  # asyncio's own
        self._counter.longest_turn = max(self._counter.longest_turn, self._counter.lines - before)
        self.most_freed = max(self.most_freed, blocks - sys.getallocatedblocks())


class PacedThreads(ThreadPoolExecutor):
    """Threads that wait for a iteration of the event loop after each piece of work.

    On a busy machine the loop may not run for long. All that threads finish meanwhile is reported
    in one iteration, which then grows with the load of the machine, not with the request.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(4)
        self._loop = loop

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return super().submit(self._paced, partial(fn, *args, **kwargs))

    def _paced(self, work: Callable[[], T]) -> T:
        try:
            return work()
        finally:
            turned = threading.Event()
            self._loop.call_soon_threadsafe(turned.set)
            turned.wait()


class LineClock(ManualClock):
    def __init__(self, counter: LineCounter) -> None:
        super().__init__()
        self._counter = counter

    def monotonic_s(self) -> float:
        return super().monotonic_s() + self._counter.lines * LINE_S


class CountedWorld(World):
    def __init__(self, config: Mapping[str, str] | None = None) -> None:
        self.counter = LineCounter()
        self.loop: CountingLoop
        super().__init__(config, loop=CountingLoop(self.counter), clock=LineClock(self.counter))
        self.loop.set_default_executor(PacedThreads(self.loop))
        self.broker.disk.threads = Threads(PacedThreads(self.loop))

    def steps_of(self, request: Message, version: int, by: FakeConnection | None = None) -> int:
        """The lines of the longest turn until the request is answered, or only waits."""
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
        frame = b"".join(encode_request(key, version, 1, "any", request))
        return self.steps_of_frame(bytearray(frame)[LENGTH_BYTES:], by)

    def steps_of_frame(self, frame: bytearray, by: FakeConnection | None = None) -> int:
        counter = self.counter
        counter.longest_turn = 0
        counter.on()
        try:
            self.loop.run_until_complete(self._serve(frame, by or FakeConnection()))
        finally:
            counter.off()
        return counter.longest_turn

    async def _serve(self, frame: bytearray, by: FakeConnection) -> None:
        connection = cast(Connection, by)
        try:
            served = self.dispatcher.serve(memoryview(frame), connection)
        except MalformedMessage:
            return
        while not isinstance(served, Answer):
            answering = asyncio.ensure_future(served.answer)
            if not await self._is_answered(answering):
                self.dispatcher.closed(connection)
                answering.cancel()
                with suppress(asyncio.CancelledError):
                    await answering
                return
            try:
                served = answering.result()
            except MalformedMessage:
                return

    async def _is_answered(self, answering: asyncio.Future[Any]) -> bool:
        idle = 0
        while not answering.done() and idle < IDLE_TURNS:
            before = self.counter.lines
            await asyncio.sleep(0)
            if self.counter.lines - before > IDLE_LINES:
                idle = 0
            else:
                idle += 1
                await asyncio.wait([answering], timeout=IDLE_S)  # a thread may be at it
        return answering.done()


@contextmanager
def counted_world(config: Mapping[str, str] | None = None) -> Iterator[CountedWorld]:
    """A world in which few items count as many: those above a hundred are decoded in a thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "SMALL_FRAME_BYTES", 200)
        patch.setattr(decoding, "ITEMS_HERE_MAX", 100)
        with CountedWorld(config) as world:
            yield world
