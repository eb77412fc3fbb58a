"""One connection of a client: requests in, answers out, both within bounds.

Owns      its parts: frame reader, reading, pipeline, sender, watch.
Promises  a client that sends more than is served, or does not read its answers, is not read
          either. One that stops sending is served what it asked for, and then let go. However
          the connection ends, what it held is given up, once, and its memory is free at once,
          without a search for garbage.
Leaves    frames to `protocol/framing.py`, order to `pipeline.py`, sending to `sender.py`,
          deadlines to `watch.py`, and what requests mean to the `RequestServer`.

Whatever happens (bytes came, an answer is ready, the socket has room, a throttle ended) leads to
one turn: send what is ready, begin what may begin, and settle what to wait for next.
"""

from __future__ import annotations

import asyncio
import logging
from typing import cast

from ottla.base.log_text import shown
from ottla.network.home import Home
from ottla.network.limits import network_of
from ottla.network.pipeline import Pipeline
from ottla.network.reading import Reading
from ottla.network.response_memory import ResponseAccount
from ottla.network.sender import Sender
from ottla.network.served import Answer
from ottla.network.timeouts import Reason
from ottla.network.waiting_readers import Standing
from ottla.network.watch import Watch
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import PARTIAL_BYTES_MAX, FrameReader

log = logging.getLogger(__name__)

UNCOUNTED_BYTES_MAX = 1024


class Connection(asyncio.BufferedProtocol):
    __slots__ = (
        "_has_stopped",
        "_home",
        "_is_calm",
        "_is_ending",
        "_is_in_line",
        "_is_lost",
        "_loop",
        "_memory",
        "_pipeline",
        "_reader",
        "_reading",
        "_responses",
        "_sender",
        "_throttle",
        "_transport",
        "_turn_is_due",
        "_turns",
        "_unsent",
        "_watch",
        "connection_id",
        "has_socket",
        "is_made",
        "peer_host",
        "peer_port",
        "place",
        "session",
    )

    _transport: asyncio.Transport
    _sender: Sender
    _watch: Watch

    def __init__(self, home: Home, peer_host: str, peer_port: int, connection_id: str) -> None:
        self.peer_host = peer_host
        self.peer_port = peer_port
        self.connection_id = connection_id
        self.session: object = None  # the request server's notes, such as who authenticated
        self.has_socket = False  # a transport was made, or is being made, and closes it
        self.is_made = False  # the transport is there, until `connection_lost`
        self._home = home
        self._loop = home.shared.loop
        self._reader = FrameReader(home.settings.frame_bytes_max, home.shared.scratch)
        self._memory = home.shared.memory
        address = network_of(peer_host)
        self._turns = home.shared.turns
        self.place = self._turns.place_of(address)
        self._reading = Reading(self._memory, self, address)
        self._responses = home.shared.response_memory
        self._unsent = ResponseAccount(self, address)
        self._pipeline = Pipeline(home, self)
        self._throttle: asyncio.TimerHandle | None = None
        self._turn_is_due = False
        self._is_in_line = False  # its requests begin when it is its turn among all connections
        self._is_calm = True  # when last settled, there was nothing to wait for but requests
        self._has_stopped = False  # the client sends nothing more
        self._is_ending = False  # no further request begins
        self._is_lost = False

    def __repr__(self) -> str:
        return f"<connection {shown(self.connection_id)} of listener {self.listener_name}>"

    @property
    def listener_name(self) -> str:
        return self._home.listener_name

    @property
    def requests_in_flight(self) -> int:
        return 0 if self._is_lost else self._pipeline.in_flight

    @property
    def unsent_bytes(self) -> int:
        return 0 if self._is_lost else self._sender.unsent_bytes

    @property
    def sent_bytes(self) -> int:
        """Since the beginning."""
        return 0 if self._is_lost else self._sender.sent_bytes

    @property
    def active_s(self) -> float:
        """When it was last heard of."""
        return self._watch.active_s

    @property
    def frame_bytes_max(self) -> int:
        return self._reader.frame_bytes_max

    @frame_bytes_max.setter
    def frame_bytes_max(self, size: int) -> None:
        """Smaller for a client that is not authenticated yet. Holds from the next frame on."""
        self._reader.frame_bytes_max = size

    def close(self, reason: str) -> None:
        """At once: what is unsent is lost."""
        if not self._is_lost:
            log.debug("closing %r: %s", self, reason)
            self._stop_serving()
            self._sender.close()
            self._transport.abort()

    def evict(self, reason: Reason) -> None:
        """Close, because others need the memory that this one holds."""
        if self._is_lost:
            return
        self._home.counters.connections_reaped[reason] += 1
        self._home.evicted.write(self._loop.time(), "closing %r: %s", self, reason.value)
        self.close(reason.value)
        self._release_memory()  # at once, and not when the transport says that it is closed

    def finish(self) -> None:
        """Begin nothing more; close when what has begun is answered and sent."""
        if not self._is_lost:
            self._is_ending = True
            self._pipeline.drop_queued()
            self.take_turn()

    def abandon(self) -> None:
        """It could not be made. Should the transport come all the same, it is closed."""
        self._is_ending = self._is_lost = True

    # From the transport

    def take_socket(self) -> Connection:
        self.has_socket = True
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        home, self._transport = self._home, cast(asyncio.Transport, transport)
        if self._is_lost:
            self._transport.abort()
            return
        self._watch = Watch(home, self, self._loop.time())
        self._sender = Sender(
            self._loop,
            self._transport,
            home.shared.executor,
            home.counters,
            progressed=self.schedule_turn,
            failed=self._sending_failed,
        )
        self.is_made = True
        home.joined(self)
        try:
            home.server.opened(self)
        except Exception:
            log.exception("bug while opening %r", self)
            self.close("a bug")
        if home.is_ending:
            self.finish()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        if self._memory.is_tight and not self._reading.has_room:
            return self._reader.next_buffer(is_tight=True)
        return self._reader.next_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self._home.counters.bytes_in += nbytes
        if self._is_ending:
            return
        try:
            frames = self._reader.received(nbytes)
        except MalformedMessage as error:
            self.refuse(error)
            return
        now_s = self._watch.active_s = self._loop.time()
        if self._reader.held_bytes or self._reading.has_partial:
            is_settled = self._note_partial(now_s, has_frames=bool(frames))
            if is_settled and not frames:
                return  # more of a frame that has its room: nothing else has changed
        elif nbytes > PARTIAL_BYTES_MAX:
            self._reading.account.standing = Standing.PROMPT  # a large frame came in one piece
        self._pipeline.add(frames)
        self.take_turn()

    def _note_partial(self, now_s: float, *, has_frames: bool) -> bool:
        """A frame is incomplete, or was until now; whether it takes what it took before."""
        watch = self._watch
        if not self._reader.held_bytes:
            watch.frame_since_s = None
        elif has_frames or watch.frame_since_s is None:
            watch.frame_is_awaited(now_s)
        return self._reading.received(self._reader, now_s, has_frames=has_frames)

    def eof_received(self) -> bool:
        """The client will not ask again. Whether it is gone shows only when it is sent something,
        so what it has asked for is served; as long as an idle client is kept, at most."""
        self._has_stopped = True
        self._reader = FrameReader(self.frame_bytes_max, self._home.shared.scratch)
        self._watch.frame_since_s = None
        self.take_turn()
        return not self._transport.is_closing()  # else `_go_on_or_end` closes it later

    def pause_writing(self) -> None:
        pass  # the sender knows

    def resume_writing(self) -> None:
        self._sender.transport_is_empty()
        self.schedule_turn()  # not now: closing a transport from here would close it twice

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.is_made:
            return
        home = self._home
        self._stop_serving()
        self._is_lost = True
        self._sender.close()
        self._watch.close()
        self._release_memory()
        home.left(self)
        log.debug("%r is closed (%s)", self, exc or "in order")
        home.server.closed(self)
        # They know the connection, and work that has not ended yet may know them; the connection
        # does not know them any more, so that there is no circle.
        del self._pipeline, self._reading, self._sender, self._unsent, self._watch
        del self._transport

    # From the pipeline, the sender, the request memory and the timer

    def schedule_turn(self) -> None:
        if not self._turn_is_due:
            self._turn_is_due = True
            self._loop.call_soon(self.take_turn)

    def take_turn(self) -> None:
        self._turn_is_due = False
        if not self._is_lost:
            pipeline = self._pipeline
            if pipeline.begun:
                pipeline.send_ready()
            is_settled = False
            if pipeline.queued:
                if self._turns.is_busy:
                    is_settled = self._stand_in_line()
                else:
                    self._turns.spend(pipeline.begin_queued())
            self._sender.flush()
            if not is_settled:
                self._settle()

    def _stand_in_line(self) -> bool:
        """Wait for the turn of this connection; whether there is nothing else to settle. A small
        request, which will begin soon, is counted and stops the reading only if more follows."""
        pipeline = self._pipeline
        if self._is_in_line or not pipeline.can_begin():
            return False
        self._is_in_line = True
        self._turns.wait(self)
        queued = pipeline.queued
        return self._is_calm and len(queued) == 1 and len(queued[0]) <= UNCOUNTED_BYTES_MAX

    def begin_requests(self) -> None:
        """It is the turn of this connection among those that wait."""
        self._is_in_line = False
        if not self._is_lost:
            self._pipeline.begin_queued()
            self._sender.flush()
            self._settle()

    def can_begin(self) -> bool:
        responses = self._responses
        return (
            self._throttle is None
            and not self._is_ending
            and self._sender.unsent_bytes < self._home.settings.unsent_bytes_max
            and (
                not responses.is_short
                or responses.may_begin(self._unsent, is_busy=self._pipeline.in_flight > 0)
            )
        )

    def send(self, answer: Answer) -> None:
        if answer.segments:
            self._home.counters.answers += 1
            self._sender.add(answer.segments)
        if answer.throttle_ms > 0:
            self._begin_throttle(answer.throttle_ms)
        if answer.is_last:
            self._stop_serving()

    def refuse(self, error: MalformedMessage) -> None:
        self._home.counters.connections_malformed += 1
        self._home.malformed.write(self._loop.time(), "closing %r: %s", self, shown(str(error)))
        self.close("malformed")

    def resume_after_memory(self) -> None:
        self.schedule_turn()

    def look(self, now_s: float) -> None:
        """Close the connection if it has had its time."""
        if self._is_lost:
            return
        reason = self._watch.look(
            now_s,
            has_requests=self._has_requests and not self._has_stopped,
            frame_bytes=self._reader.partial_bytes,
            sent_bytes=self._sender.sent_bytes,
        )
        if reason is not None:
            self._home.counters.connections_reaped[reason] += 1
            self.close(reason.value)

    @property
    def _has_requests(self) -> bool:
        pipeline = self._pipeline
        return bool(pipeline.in_flight or pipeline.queued or self._throttle)

    # What to wait for

    def _settle(self) -> None:
        unsent_bytes, complete_bytes = self._sender.unsent_bytes, self._pipeline.complete_bytes
        held_bytes = complete_bytes + self._reader.held_bytes
        has_end = self._is_ending or self._has_stopped
        answer_bytes = self._pipeline.answer_bytes if self._pipeline.begun else 0
        is_waiting = unsent_bytes or held_bytes or answer_bytes or self._throttle or has_end
        if not is_waiting and self._is_calm:
            return  # as nearly always: the client has its answer, and is read
        self._is_calm = not is_waiting
        if unsent_bytes:
            self._watch.is_unsent(self._sender.sent_bytes)
        else:
            self._watch.unsent_since_s = None
        if self._sender.added_bytes:
            self._reading.is_known()
        self._reading.hold(self._reader, complete_bytes)
        now_s = self._loop.time()
        self._responses.hold(self._unsent, self._sender.memory_bytes + answer_bytes, now_s)
        has_room = unsent_bytes + answer_bytes < self._home.settings.unsent_bytes_max
        is_stuck = bool(held_bytes) and (self._pipeline.is_stuck or not has_room)
        self._reading.stick(now_s, is_stuck=is_stuck and self._throttle is None)
        self._read_or_not(now_s, has_room=has_room)
        self._go_on_or_end()

    def _go_on_or_end(self) -> None:
        pipeline = self._pipeline
        is_due = self._turn_is_due or self._is_in_line
        if pipeline.queued and not is_due and pipeline.can_begin():
            self.schedule_turn()
        has_end = self._is_ending or (self._has_stopped and not pipeline.queued)
        if has_end and not pipeline.in_flight and self._sender.is_handed_over:
            self._transport.close()

    def _read_or_not(self, now_s: float, *, has_room: bool) -> None:
        has_end = self._is_ending or self._has_stopped
        may_begin = not self._pipeline.queued and self._throttle is None and not has_end
        if self._reading.switch(self._transport, self._reader, now_s, wants=may_begin and has_room):
            self._watch.frame_since_s = None  # while it is not read, the client waits for us
            if self._reading.is_on and self._reader.has_partial_frame:
                self._watch.frame_is_awaited(now_s)

    def _begin_throttle(self, throttle_ms: int) -> None:
        end_s = self._loop.time() + throttle_ms / 1000
        if self._throttle is not None:
            end_s = max(end_s, self._throttle.when())
            self._throttle.cancel()
        self._throttle = self._loop.call_at(end_s, self._end_throttle)

    def _end_throttle(self) -> None:
        self._throttle = None
        self._watch.active_s = self._loop.time()
        self.take_turn()

    # The end

    def _stop_serving(self) -> None:
        self._is_ending = True
        self._pipeline.give_up()
        if self._throttle is not None:
            self._throttle.cancel()
            self._throttle = None

    def _release_memory(self) -> None:
        self._reading.close()
        self._responses.close(self._unsent, self._loop.time())

    def _sending_failed(self, error: OSError) -> None:
        """What was promised cannot be sent, so nothing that follows would be understood."""
        if not isinstance(error, ConnectionError):
            log.error("closing %r: an answer could not be read: %s", self, shown(str(error)))
        self.close("sending failed")
