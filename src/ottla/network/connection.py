"""One connection of a client: requests in, responses out, both within bounds.

Owns      its parts: frame reader, read control, request flow, deadline monitor.
Promises  back-pressure: a client that sends more than is served, or does not read its responses,
          is not read. A client that closes its sending side gets the responses to its requests
          before the connection is closed. A closed connection releases all it holds exactly once,
          and its memory is freed by reference counting, without the garbage collector.
Leaves    frames to `protocol/framing.py`, requests and responses to `request_flow.py`, deadlines
          to `deadline_monitor.py`, and what requests mean to the `RequestServer`.

Each event (bytes arrived, a response is ready, the socket has room, a throttle ended) leads to
`advance`: send ready responses, begin queued requests, and update what the connection waits for.
"""

from __future__ import annotations

import asyncio
import logging
from typing import cast

from ottla.base.log_messages.log_text import shown
from ottla.base.memory.stored_errors import without_traceback
from ottla.base.memory.transport_cycle import break_cycle
from ottla.network.addresses import network_of
from ottla.network.context import ListenerContext
from ottla.network.deadline_monitor import DeadlineMonitor
from ottla.network.read_budget import SMALL_READ_BYTES
from ottla.network.read_control import ReadControl
from ottla.network.request_flow import RequestFlow
from ottla.network.timeouts import Reason
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import PARTIAL_BYTES_MAX, FrameReader

log = logging.getLogger(__name__)

UNCOUNTED_BYTES_MAX = 1024  # a queued request up to this size is not counted as request memory


class Connection(asyncio.BufferedProtocol):
    __slots__ = (
        "_address",
        "_advance_is_scheduled",
        "_context",
        "_flow",
        "_has_received_eof",
        "_is_ending",
        "_is_in_fair_queue",
        "_is_lost",
        "_loop",
        "_monitor",
        "_read_control",
        "_reader",
        "_reads",
        "_request_memory",
        "_scheduler",
        "_transport",
        "_was_idle",
        "connection_id",
        "has_socket",
        "is_made",
        "peer_host",
        "peer_port",
        "session",
        "share",
    )

    _transport: asyncio.Transport
    _flow: RequestFlow
    _monitor: DeadlineMonitor

    def __init__(
        self, context: ListenerContext, peer_host: str, peer_port: int, connection_id: str
    ) -> None:
        network = context.network
        self.peer_host = peer_host
        self.peer_port = peer_port
        self.connection_id = connection_id
        self.session: object = None  # state of the request server, such as the principal
        self.has_socket = False  # a transport is being made, or was, and will close the socket
        self.is_made = False  # from `connection_made` to `connection_lost`
        self._context = context
        self._loop = network.loop
        self._reads = network.reads
        self._reader = FrameReader(context.settings.frame_bytes_max, network.scratch)
        self._request_memory = network.request_memory
        self._address = network_of(peer_host)
        self._scheduler = network.scheduler
        self.share = self._scheduler.new_share(self._address)
        self._read_control = ReadControl(self._request_memory, self, self._address)
        self._advance_is_scheduled = False
        self._is_in_fair_queue = False  # until the scheduler calls `begin_requests`
        self._was_idle = True  # at the last update it waited for nothing but requests
        self._has_received_eof = False
        self._is_ending = False  # no further request begins
        self._is_lost = False

    def __repr__(self) -> str:
        return f"<connection {shown(self.connection_id)} of listener {self.listener_name}>"

    @property
    def listener_name(self) -> str:
        return self._context.listener_name

    @property
    def unsent_bytes(self) -> int:
        return 0 if self._is_lost else self._flow.sender.unsent_bytes

    @property
    def sent_bytes(self) -> int:
        """Since the connection was opened."""
        return 0 if self._is_lost else self._flow.sender.sent_bytes

    @property
    def active_s(self) -> float:
        """When bytes last arrived."""
        return self._monitor.active_s

    @property
    def frame_bytes_max(self) -> int:
        return self._reader.frame_bytes_max

    @frame_bytes_max.setter
    def frame_bytes_max(self, size: int) -> None:
        """Smaller for a client that is not authenticated yet. Holds from the next frame on."""
        self._reader.frame_bytes_max = size

    def close(self, reason: str) -> None:
        """At once: unsent responses are lost."""
        if not self._is_lost:
            log.debug("closing %r: %s", self, reason)
            self.stop_serving()
            self._flow.sender.close()
            self._transport.abort()

    def evict(self, reason: Reason) -> None:
        """Close because other connections need the memory that this one holds."""
        if self._is_lost:
            return
        self._context.counters.connections_reaped[reason] += 1
        self._context.eviction_log.write(self._loop.time(), "closing %r: %s", self, reason.value)
        self.close(reason.value)
        self._release_memory()  # now, without waiting for `connection_lost`

    def finish(self) -> None:
        """Begin no further request; close when all responses are sent."""
        if not self._is_lost:
            self._is_ending = True
            self._flow.pipeline.queued.clear()
            self.advance()

    def abandon(self) -> None:
        """The transport could not be made; if it is made nevertheless, it is closed."""
        self._is_ending = self._is_lost = True

    # Called by the transport

    def take_socket(self) -> Connection:
        self.has_socket = True
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        context, self._transport = self._context, cast(asyncio.Transport, transport)
        if self._is_lost:
            self._transport.abort()
            return
        self._monitor = DeadlineMonitor(
            context.settings, self._schedule_deadline_check, self._loop.time()
        )
        self._flow = RequestFlow(
            self, context, self._transport, self._address, resumed=self._resume_after_throttle
        )
        self.is_made = True
        context.add(self)
        try:
            context.server.opened(self)
        except Exception:
            log.exception("bug while opening %r", self)
            self.close("a bug")
        if context.is_closing:
            self.finish()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        if self._request_memory.is_tight and not self._read_control.has_room:
            return self._reader.next_buffer(self._reads.bytes_max, is_tight=True)
        reader, reads = self._reader, self._reads
        buffer = reader.next_buffer(reads.bytes_max)
        if reader.grown_bytes:
            reads.spend(reader.grown_bytes)
            reader.grown_bytes = 0
        return buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._context.counters.bytes_in += nbytes
        if nbytes > SMALL_READ_BYTES:
            self._reads.spend(nbytes)
        if self._is_ending:
            return
        try:
            frames = self._reader.received(nbytes)
        except MalformedMessage as error:
            self._refuse(error)
            return
        now_s = self._loop.time()
        self._monitor.note_active(now_s)
        if self._reader.held_bytes or self._read_control.has_partial:
            is_unchanged = self._note_partial(now_s, has_frames=bool(frames))
            if is_unchanged and not frames:
                return  # more of a frame that has its memory
        elif nbytes > PARTIAL_BYTES_MAX:
            self._read_control.note_whole_frame()
        self._flow.pipeline.add(frames)
        self.advance()

    def _note_partial(self, now_s: float, *, has_frames: bool) -> bool:
        """A frame is incomplete, or was until now. True if its memory stays the same."""
        monitor = self._monitor
        if not self._reader.held_bytes:
            monitor.stop_awaiting_frame()
        elif has_frames or monitor.frame_since_s is None:
            monitor.await_frame(now_s)
        return self._read_control.received(self._reader, now_s, has_frames=has_frames)

    def eof_received(self) -> bool:
        """The client sends no more requests, but may still read: what it has sent is served. The
        idle timeout applies."""
        self._has_received_eof = True
        self._reader = FrameReader(self.frame_bytes_max, self._context.network.scratch)
        self._monitor.stop_awaiting_frame()
        self.advance()
        return not self._transport.is_closing()  # if open, `_continue_or_close` closes it later

    def pause_writing(self) -> None:
        pass  # the sender asks the transport

    def resume_writing(self) -> None:
        self._flow.sender.transport_is_empty()
        self.schedule_advance()  # later: closing a transport from here would close it twice

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.is_made:
            return
        context = self._context
        self.stop_serving()
        self._is_lost = True
        self._flow.sender.close()
        context.network.timers.cancel(self)
        self._release_memory()
        context.remove(self)
        log.debug("%r is closed (%s)", self, exc or "in order")
        context.server.closed(self)
        # The parts refer to the connection, and unfinished work may refer to the parts. Without
        # references back there is no cycle.
        break_cycle(self._transport)
        del self._flow, self._read_control, self._monitor, self._transport

    # Requests and responses

    def schedule_advance(self) -> None:
        if not self._advance_is_scheduled:
            self._advance_is_scheduled = True
            self._loop.call_soon(self.advance)

    def advance(self) -> None:
        """Send ready responses, begin queued requests, update what the connection waits for."""
        self._advance_is_scheduled = False
        if not self._is_lost:
            flow = self._flow
            pipeline = flow.pipeline
            if pipeline.in_flight:
                flow.send_ready()
            is_unchanged = False
            if pipeline.queued:
                if self._scheduler.is_busy:
                    is_unchanged = self._wait_in_fair_queue()
                else:
                    self._scheduler.charge_immediate(flow.begin_queued())
            flow.sender.flush()
            if not is_unchanged:
                self._update_state()

    def _wait_in_fair_queue(self) -> bool:
        """Begin when the scheduler selects this connection. True if the state needs no update: one
        small request, which begins soon, is not counted, and reading stops only when more
        follows."""
        if self._is_in_fair_queue or not self._flow.can_begin():
            return False
        self._is_in_fair_queue = True
        self._scheduler.enqueue(self)
        queued = self._flow.pipeline.queued
        return self._was_idle and len(queued) == 1 and len(queued[0]) <= UNCOUNTED_BYTES_MAX

    def begin_requests(self) -> None:
        """Called by the scheduler."""
        self._is_in_fair_queue = False
        if not self._is_lost:
            self._flow.begin_queued()
            self._flow.sender.flush()
            self._update_state()

    def request_failed(self, error: BaseException) -> None:
        if isinstance(error, MalformedMessage):
            self._refuse(error)
        elif isinstance(error, asyncio.CancelledError):
            self.close("a request was cancelled")
        else:
            log.error("bug while serving a request of %r", self, exc_info=error)
            self.close("a bug")
        without_traceback(error)  # its frames hold the request, and the task that raised it

    def _refuse(self, error: MalformedMessage) -> None:
        context = self._context
        context.counters.connections_malformed += 1
        context.malformed_log.write(self._loop.time(), "closing %r: %s", self, shown(str(error)))
        self.close("malformed")

    # Memory and deadlines

    def resume_after_memory(self) -> None:
        self.schedule_advance()

    def _schedule_deadline_check(self, delay_s: float) -> None:
        self._context.network.timers.start(self, int(delay_s * 1000) + 1)

    def check_deadlines(self, now_s: float) -> None:
        """Close the connection if one of its deadlines has passed."""
        if self._is_lost:
            return
        reason = self._monitor.check(
            now_s,
            has_requests=self._flow.has_requests and not self._has_received_eof,
            frame_bytes=self._reader.partial_bytes,
            sent_bytes=self._flow.sender.sent_bytes,
        )
        if reason is not None:
            self._context.counters.connections_reaped[reason] += 1
            self.close(reason.value)

    # What the connection waits for

    def _update_state(self) -> None:
        """Bring memory accounts, deadlines and reading in line with what is queued and unsent."""
        flow, reader = self._flow, self._reader
        sender, pipeline = flow.sender, flow.pipeline
        if self._was_idle and not (
            sender.queued_bytes
            or sender.is_blocked
            or pipeline.queued
            or pipeline.in_flight
            or reader.held_bytes
            or flow.throttle
            or self._is_ending
            or self._has_received_eof
        ):
            return  # the usual case: all responses are sent, and the client is read
        has_end = self._is_ending or self._has_received_eof
        unsent_bytes, complete_bytes = sender.unsent_bytes, pipeline.complete_bytes
        held_bytes = complete_bytes + reader.held_bytes
        answer_bytes = flow.answer_bytes
        is_waiting = unsent_bytes or held_bytes or answer_bytes or flow.throttle or has_end
        if not is_waiting and self._was_idle:
            return
        self._was_idle = not is_waiting
        now_s = self._loop.time()
        if unsent_bytes:
            self._monitor.note_unsent(now_s, sender.sent_bytes)
        else:
            self._monitor.note_all_sent()
        control = self._read_control
        if sender.added_bytes:
            control.note_response()
        control.update(reader, complete_bytes)
        flow.hold_memory(now_s)
        has_room = unsent_bytes + answer_bytes < self._context.settings.unsent_bytes_max
        is_stalled = bool(held_bytes) and (pipeline.is_stalled or not has_room)
        control.note_stalled(now_s, is_stalled=is_stalled and flow.throttle is None)
        self._update_reading(now_s, has_room=has_room)
        self._continue_or_close()

    def _continue_or_close(self) -> None:
        flow, pipeline = self._flow, self._flow.pipeline
        is_scheduled = self._advance_is_scheduled or self._is_in_fair_queue
        if pipeline.queued and not is_scheduled and flow.can_begin():
            self.schedule_advance()
        has_begun_all = self._is_ending or (self._has_received_eof and not pipeline.queued)
        if has_begun_all and not pipeline.in_flight and flow.sender.is_all_written:
            self._transport.close()

    def _update_reading(self, now_s: float, *, has_room: bool) -> None:
        flow, has_end = self._flow, self._is_ending or self._has_received_eof
        can_serve = not flow.pipeline.queued and flow.throttle is None and not has_end
        control = self._read_control
        if control.switch(self._transport, self._reader, now_s, wants=can_serve and has_room):
            self._monitor.stop_awaiting_frame()  # no deadline while the client is not read
            if control.is_reading and self._reader.has_partial_frame:
                self._monitor.await_frame(now_s)

    def _resume_after_throttle(self) -> None:
        self._monitor.note_active(self._loop.time())
        self.advance()

    # Closing

    def stop_serving(self) -> None:
        """No further request begins, and those in flight get no response."""
        self._is_ending = True
        self._flow.abandon()

    def _release_memory(self) -> None:
        self._read_control.close()
        self._flow.release_memory()

    def sending_failed(self, error: OSError) -> None:
        """A part of a response is missing, so the client cannot read what would follow."""
        if not isinstance(error, ConnectionError):
            log.error("closing %r: a response could not be read: %s", self, shown(str(error)))
        self.close("sending failed")
