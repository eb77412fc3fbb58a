"""The requests of one connection on their way: begun while there is room, answered in order.

Owns      pipeline, sender, throttle, and the account of response memory.
Promises  a request begins only while the requests in flight, the unsent responses and the memory
          of responses have room, and the client is not throttled. A connection begins requests for
          a short time, and then the event loop serves the others.
Leaves    reading, deadlines and closing to `connection.py`, the order between connections to
          `RequestScheduler`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.network.context import ListenerContext
from ottla.network.request_pipeline import RequestPipeline
from ottla.network.request_server import Answer
from ottla.network.response_memory import ResponseAccount
from ottla.network.sender import Sender

if TYPE_CHECKING:
    from ottla.network.connection import Connection

# Limits of one connection before the event loop serves the others. Responses leave in one send
# when the time is over, so a shorter one makes pipelined requests cost more: at 0.5 ms a pipeline
# of 50 small requests took four sends, and each interrupts the client.
REQUESTS_PER_ITERATION = 64
BEGINNING_S_MAX = 0.002


class RequestFlow:
    __slots__ = (
        "_connection",
        "_context",
        "_loop",
        "_now_s",
        "_response_memory",
        "_resumed",
        "account",
        "pipeline",
        "sender",
        "throttle",
    )

    def __init__(
        self,
        connection: Connection,
        context: ListenerContext,
        transport: asyncio.Transport,
        address: str,
        resumed: Callable[[], None],
    ) -> None:
        """`resumed` is called when a throttle has ended."""
        network = context.network
        self._connection = connection
        self._context = context
        self._loop = network.loop
        self._now_s = network.clock.monotonic_s
        self._resumed = resumed
        self._response_memory = network.response_memory
        self.account = ResponseAccount(connection, address)
        self.throttle: asyncio.TimerHandle | None = None
        self.pipeline = RequestPipeline(
            context.settings,
            network.loop,
            network.tasks,
            network.cancellations,
            advance=connection.advance,
            schedule_advance=connection.schedule_advance,
            failed=connection.request_failed,
        )
        self.sender = Sender(
            network.loop,
            transport,
            network.executor,
            context.counters,
            progressed=connection.schedule_advance,
            failed=connection.sending_failed,
        )

    @property
    def has_requests(self) -> bool:
        pipeline = self.pipeline
        return bool(pipeline.in_flight or pipeline.queued or self.throttle)

    @property
    def answer_bytes(self) -> int:
        """The memory of answers that wait for earlier ones."""
        return self.pipeline.answer_bytes if self.pipeline.in_flight else 0

    def can_begin(self) -> bool:
        pipeline, sender, responses = self.pipeline, self.sender, self._response_memory
        in_flight = pipeline.in_flight
        unsent_bytes = sender.unsent_bytes if sender.is_blocked else sender.queued_bytes
        return (
            (not in_flight or pipeline.has_room())
            and self.throttle is None
            and unsent_bytes < self._context.settings.unsent_bytes_max
            and (
                not responses.is_full or responses.may_begin(self.account, is_busy=bool(in_flight))
            )
        )

    def begin_queued(self) -> float:
        """Begin queued requests, up to the limits of one iteration; return the seconds taken."""
        connection, context, pipeline = self._connection, self._context, self.pipeline
        queued, in_flight, serve = pipeline.queued, pipeline.in_flight, context.server.serve
        left = REQUESTS_PER_ITERATION
        began_s = now_s = self._now_s()
        end_s = began_s + BEGINNING_S_MAX
        while queued and left and now_s < end_s and self.can_begin():
            left -= 1
            frame = queued.popleft()
            try:
                served = serve(frame, connection)
            except Exception as error:
                connection.request_failed(error)
                continue
            if in_flight or type(served) is not Answer:
                pipeline.begin(served, len(frame))
            else:
                self._send(served)
            now_s = self._now_s()
        context.counters.requests += REQUESTS_PER_ITERATION - left
        return now_s - began_s

    def send_ready(self) -> None:
        while (answer := self.pipeline.take_answer()) is not None:
            self._send(answer)

    def _send(self, answer: Answer) -> None:
        if answer.segments:
            self._context.counters.answers += 1
            self.sender.add(answer.segments)
        if answer.throttle_ms > 0:
            self._begin_throttle(answer.throttle_ms)
        if answer.is_last:
            self._connection.stop_serving()

    def hold_memory(self, now_s: float) -> None:
        """Count the memory of responses that are not sent."""
        held_bytes = self.sender.memory_bytes + self.answer_bytes
        self._response_memory.hold(self.account, held_bytes, now_s)

    def release_memory(self) -> None:
        self._response_memory.close(self.account, self._loop.time())

    def abandon(self) -> None:
        """The client gets no further response."""
        self.pipeline.abandon()
        if self.throttle is not None:
            self.throttle.cancel()
            self.throttle = None

    def _begin_throttle(self, throttle_ms: int) -> None:
        end_s = self._loop.time() + throttle_ms / 1000
        if self.throttle is not None:
            end_s = max(end_s, self.throttle.when())
            self.throttle.cancel()
        self.throttle = self._loop.call_at(end_s, self._end_throttle)

    def _end_throttle(self) -> None:
        self.throttle = None
        self._resumed()
