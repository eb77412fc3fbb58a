"""The requests of one connection, from the frame to the response.

Owns      frames that have arrived and not begun, requests in flight, and their tasks.
Promises  a request can begin when all before it have taken effect; responses leave in order.
          Requests in flight are bounded by number and by the bytes of their frames.
Leaves    serving a frame, and sending a response, to the connection.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from types import CoroutineType
from typing import Any

from ottla.base.memory.stored_errors import drop_cancellation
from ottla.base.scheduling.callback_queue import CallbackQueue
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.network.in_flight import InFlightRequest, InFlightRequests
from ottla.network.request_server import Answer, AwaitingAnswer, PendingAnswer, Served, TakingEffect
from ottla.network.settings import ConnectionSettings
from ottla.protocol.framing import LENGTH_BYTES

# Frames of waiting requests count as request memory only if they are large together: a fetch that
# waits for data is small, and there are many.
WAITING_BYTES_MIN = 64 * 1024


class RequestPipeline:
    __slots__ = (
        "_advance",
        "_cancellations",
        "_failed",
        "_in_flight",
        "_loop",
        "_queued_bytes",
        "_schedule_advance",
        "_settings",
        "_tasks",
        "in_flight",
        "queued",
    )

    def __init__(
        self,
        settings: ConnectionSettings,
        loop: asyncio.AbstractEventLoop,
        tasks: OwnedTasks,
        cancellations: CallbackQueue,
        *,
        advance: Callable[[], None],
        schedule_advance: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """`advance` is called when an answer can be sent, `schedule_advance` when answers may
        follow in the same iteration of the event loop, `failed` when a request raises."""
        self._settings = settings
        self._loop = loop
        self._tasks = tasks
        self._cancellations = cancellations
        self._advance = advance
        self._schedule_advance = schedule_advance
        self._failed = failed
        self._in_flight = InFlightRequests()
        self.in_flight = self._in_flight.requests  # begun and not answered
        self.queued: deque[memoryview] = deque()  # arrived and not begun
        self._queued_bytes = 0  # computed when needed, and kept until frames are added

    @property
    def answer_bytes(self) -> int:
        """The memory of answers that wait for earlier ones."""
        return self._in_flight.answer_bytes

    @property
    def complete_bytes(self) -> int:
        """Bytes of the frames that are still needed: of requests that have not taken effect, and
        of large ones that wait for their responses."""
        queued_bytes, requests = 0, self._in_flight
        if self.queued:
            if not self._queued_bytes:
                self._queued_bytes = sum(map(len, self.queued)) + LENGTH_BYTES * len(self.queued)
            queued_bytes = self._queued_bytes
        if requests.frame_bytes > WAITING_BYTES_MIN:
            return queued_bytes + requests.frame_bytes
        unfinished = requests.taking_effect
        return queued_bytes + (unfinished.frame_bytes if unfinished is not None else 0)

    @property
    def is_stalled(self) -> bool:
        """Whether frames wait for requests that have taken effect and have no response yet."""
        requests = self._in_flight
        if requests.taking_effect is not None:
            return False
        if self.queued and self.in_flight:
            return not self.has_room()
        return requests.frame_bytes > WAITING_BYTES_MIN

    def has_room(self) -> bool:
        """Whether another request may begin besides those in flight."""
        settings, requests = self._settings, self._in_flight
        return (
            requests.taking_effect is None
            and requests.answer_bytes < settings.unsent_bytes_max
            and len(requests.requests) < settings.requests_in_flight_max
            and requests.frame_bytes < settings.in_flight_bytes_max
        )

    def add(self, frames: list[memoryview]) -> None:
        self.queued.extend(frames)
        self._queued_bytes = 0

    def take_answer(self) -> Answer | None:
        return self._in_flight.take_answer()

    def begin(self, served: Served, frame_bytes: int) -> None:
        """Add a request whose answer is not ready, or waits for earlier ones."""
        request = self._in_flight.begin(
            frame_bytes, is_taking_effect=isinstance(served, TakingEffect)
        )
        if isinstance(served, Answer):
            self._in_flight.complete(request, served)
        else:
            self._start(request, served.answer)

    def _start(self, request: InFlightRequest, answer: Awaitable[Served] | PendingAnswer) -> None:
        if isinstance(answer, PendingAnswer):
            request.work = answer
            answer.begin(partial(self._complete, request), self._failed)
        else:
            self._start_task(request, answer)

    def abandon(self) -> None:
        """The connection is closed. Requests that have not taken effect run to their end. The
        others are cancelled soon, a few in each iteration of the event loop: hundreds of
        connections may be closed together, with more than a hundred requests each."""
        self.queued.clear()
        for request in self._in_flight.abandon():
            if not request.is_taking_effect:
                self._cancel(request)

    def _cancel(self, request: InFlightRequest) -> None:
        """A task after its first step: one that is cancelled before that runs no code of its own,
        and cannot remove what was set up for it."""
        if isinstance(request.work, PendingAnswer):
            self._cancellations.add(request.work.cancel)
        else:
            self._cancellations.add(partial(self._cancel_task_soon, request.work))

    def _cancel_task_soon(self, task: asyncio.Future[Any]) -> None:
        self._loop.call_soon(task.cancel)

    def _start_task(self, request: InFlightRequest, answer: Awaitable[Served]) -> None:
        task: asyncio.Future[Served]
        if isinstance(answer, CoroutineType):  # the usual case; `ensure_future` is slower
            task = self._loop.create_task(answer)
        else:
            task = asyncio.ensure_future(answer)
        request.work = task
        self._tasks.own(task)
        task.add_done_callback(partial(self._ended, request))

    def _ended(self, request: InFlightRequest, task: asyncio.Future[Served]) -> None:
        if task.cancelled():
            drop_cancellation(task)
            if not request.is_abandoned:
                self._failed(asyncio.CancelledError())
            return
        # `result` would raise it here: the task and its error would refer to each other.
        error = task.exception()
        if error is not None:
            self._failed(error)
            return
        served = task.result()
        if not isinstance(served, Answer):
            self._continue(request, served)
        else:
            self._complete(request, served)

    def _continue(self, request: InFlightRequest, served: AwaitingAnswer | TakingEffect) -> None:
        """The first part of the work is done."""
        if not request.is_abandoned or isinstance(served, TakingEffect):
            self._start(request, served.answer)
        elif isinstance(served.answer, PendingAnswer):
            served.answer.cancel()
        else:
            self._start_task(request, served.answer)
            self._cancel(request)
        if isinstance(served, AwaitingAnswer) and not request.is_abandoned:
            self._in_flight.took_effect(request)
            self._schedule_advance()  # the next one may begin

    def _complete(self, request: InFlightRequest, answer: Answer) -> None:
        if request.is_abandoned:
            return  # it is about to be cancelled
        self._in_flight.complete(request, answer)
        if len(self.in_flight) == 1:
            self._advance()
        else:
            self._schedule_advance()  # other answers may be ready too, and are sent together
