"""The requests of one connection, from the frame to the answer.

Owns      frames that have arrived and not begun, and requests that have begun.
Promises  a request begins when all before it have taken effect; answers come out in order.
          What has begun is bounded, by number and by the bytes of its frames.
Leaves    sending to the connection, which also says when nothing may begin.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable
from functools import partial
from time import monotonic
from types import CoroutineType
from typing import TYPE_CHECKING

from ottla.network.answer_order import AnswerOrder, Begun
from ottla.network.home import Home
from ottla.network.served import Answer, Served, Waiting, Working
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import LENGTH_BYTES

if TYPE_CHECKING:
    from ottla.network.connection import Connection

log = logging.getLogger(__name__)

# Requests that wait for their answers count with their frames if these are large together: a fetch
# that waits for data is small, and there are many.
WAITING_BYTES_MIN = 64 * 1024
# Before other connections have their turn: so many requests, or those of so long.
REQUESTS_PER_TURN = 64
TURN_S = 0.0005


class Pipeline:
    __slots__ = ("_connection", "_home", "_order", "_queued_bytes", "begun", "queued")

    def __init__(self, home: Home, connection: Connection) -> None:
        self._home = home
        self._connection = connection
        self._order = AnswerOrder()
        self.begun = self._order.begun  # not answered yet
        self.queued: deque[memoryview] = deque()  # arrived, not begun
        self._queued_bytes = 0  # once counted, kept until the last of them has begun

    @property
    def in_flight(self) -> int:
        return len(self.begun)

    @property
    def answer_bytes(self) -> int:
        """In memory, of answers that wait for those before them."""
        return self._order.answer_bytes

    @property
    def complete_bytes(self) -> int:
        """Of the frames that are still needed: they have not taken effect, or their requests are
        kept until they have their answers."""
        if self.queued and not self._queued_bytes:
            self._queued_bytes = sum(map(len, self.queued)) + LENGTH_BYTES * len(self.queued)
        order = self._order
        if order.frame_bytes > WAITING_BYTES_MIN:
            return self._queued_bytes + order.frame_bytes
        return self._queued_bytes + (order.working.frame_bytes if order.working is not None else 0)

    @property
    def is_stuck(self) -> bool:
        """Whether the frames wait for requests that have taken effect and have no answer yet."""
        order = self._order
        if order.working is not None:
            return False
        if self.queued and self.begun:
            return not self._has_room()
        return order.frame_bytes > WAITING_BYTES_MIN

    def add(self, frames: list[memoryview]) -> None:
        self.queued.extend(frames)
        self._queued_bytes = 0

    def send_ready(self) -> None:
        while (answer := self._order.next_answer()) is not None:
            self._connection.send(answer)

    def begin_queued(self) -> float:
        """Begin what may begin, as much as fits one turn; how many seconds that took."""
        queued, begun, connection = self.queued, self.begun, self._connection
        left, now_s = REQUESTS_PER_TURN, monotonic()
        began_s, end_s = now_s, now_s + TURN_S
        while (
            queued
            and left
            and now_s < end_s
            and (not begun or self._has_room())
            and connection.can_begin()
        ):
            left -= 1
            self._begin(queued.popleft())
            now_s = monotonic()
        if not queued:
            self._queued_bytes = 0
        return now_s - began_s

    def can_begin(self) -> bool:
        return (not self.begun or self._has_room()) and self._connection.can_begin()

    def _has_room(self) -> bool:
        settings, order = self._home.settings, self._order
        return (
            order.working is None
            and order.answer_bytes < settings.unsent_bytes_max
            and len(order.begun) < settings.requests_in_flight_max
            and order.frame_bytes < settings.in_flight_bytes_max
        )

    def drop_queued(self) -> None:
        self.queued.clear()
        self._queued_bytes = 0

    def give_up(self) -> None:
        """Nobody waits for answers any more. What is in the middle of its work may finish it."""
        self.drop_queued()
        for begun in self._order.give_up():
            if not begun.is_working:
                self._cancel(begun)

    def _cancel(self, begun: Begun) -> None:
        """After its first step: a task that is cancelled before that runs no code of its own, and
        cannot remove what was set up for it."""
        self._home.shared.loop.call_soon(begun.task.cancel)

    def _begin(self, frame: memoryview) -> None:
        home = self._home
        home.counters.requests += 1
        try:
            served = home.server.serve(frame, self._connection)
        except MalformedMessage as error:
            self._connection.refuse(error)
            return
        except Exception:
            log.exception("bug while beginning a request of %r", self._connection)
            self._connection.close("a bug")
            return
        if not isinstance(served, Answer):
            self._await(served, len(frame))
        elif self.begun:
            self._order.ready(self._order.begin(len(frame), is_working=False), served)
        else:
            self._connection.send(served)

    def _await(self, served: Waiting | Working, frame_bytes: int) -> None:
        begun = self._order.begin(frame_bytes, is_working=isinstance(served, Working))
        self._start(begun, served.answer)

    def _start(self, begun: Begun, answer: Awaitable[Served]) -> None:
        if isinstance(answer, CoroutineType):  # nearly always; `ensure_future` asks more questions
            begun.task = self._home.shared.loop.create_task(answer)
        else:
            begun.task = asyncio.ensure_future(answer)
        self._home.shared.tasks.own(begun.task)
        begun.task.add_done_callback(partial(self._ended, begun))

    def _ended(self, begun: Begun, task: asyncio.Future[Served]) -> None:
        try:
            served = task.result()
        except asyncio.CancelledError:
            if not begun.is_given_up:
                self._connection.close("a request was cancelled")
        except MalformedMessage as error:
            self._connection.refuse(error)
        except Exception:
            log.exception("bug while serving a request of %r", self._connection)
            self._connection.close("a bug")
        else:
            if not isinstance(served, Answer):
                self._go_on(begun, served)
            elif not begun.is_given_up:
                self._ready(begun, served)

    def _go_on(self, begun: Begun, served: Waiting | Working) -> None:
        """After some work that had to come first."""
        self._start(begun, served.answer)
        if isinstance(served, Working):
            return
        if begun.is_given_up:
            self._cancel(begun)
            return
        self._order.took_effect(begun)
        self._connection.schedule_turn()  # the next one may begin

    def _ready(self, begun: Begun, answer: Answer) -> None:
        self._order.ready(begun, answer)
        if len(self.begun) == 1:
            self._connection.take_turn()
        else:
            self._connection.schedule_turn()  # others may be ready too, and leave together
