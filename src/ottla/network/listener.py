"""Accepts the connections of one listener, within its limits.

Owns      the listening sockets and their connections.
Promises  limits are exact: a connection is counted from before it is set up until it is closed.
          Beyond the number of connections, new ones wait in the backlog of the system; beyond the
          rate, accepting pauses; beyond the number of its address, a connection is closed. Without
          free descriptors, accepting pauses. While the event loop is busy, new connections are
          accepted no faster than those before them are served.
Leaves    what happens on a connection to `connection.py`, counting to `limits.py`.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from functools import partial

from ottla.base.log_messages.log_text import shown
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.network.addresses import normal_address
from ottla.network.connection import Connection
from ottla.network.context import ListenerContext, NetworkContext
from ottla.network.counters import NetworkCounters
from ottla.network.limits import AdmissionControl, ConnectionQuota, Refusal
from ottla.network.listening import Bind, bind_sockets, prepare_accepted
from ottla.network.request_server import RequestServer
from ottla.network.settings import ListenerSettings

log = logging.getLogger(__name__)

ACCEPTS_PER_ITERATION = 64  # before the event loop serves open connections
# While requests wait for the event loop: about as many as it serves in an iteration, less those
# that wait for their first turn, so that connections are not accepted faster than they are served.
ACCEPTS_WHILE_BUSY = 8
ACCEPT_AGAIN_S = 1.0  # after running out of descriptors or memory
DELAYED_MAX = 1000  # connections that wait before they are refused; more are closed at once

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Listener:
    def __init__(
        self,
        settings: ListenerSettings,
        server: RequestServer,
        network: NetworkContext,
        broker_quota: ConnectionQuota,
        bind: Bind = bind_sockets,
    ) -> None:
        self.settings = settings
        self._bind = bind
        self.port = settings.port  # once it is open, the one that the system chose
        self.quota = ConnectionQuota(settings.limits)
        self._admission = AdmissionControl(self.quota, broker_quota, is_exempt=settings.is_exempt)
        self._context = ListenerContext(
            settings.name, settings.connection, server, network, self._admission
        )
        self._loop = network.loop
        self._sockets: list[socket.socket] = []
        self._paused: dict[socket.socket, asyncio.TimerHandle] = {}
        self._delayed: dict[socket.socket, asyncio.TimerHandle] = {}  # accepted beyond a rate
        self._waiting_for_resources: set[socket.socket] = set()  # listening sockets
        self._connections_counted = 0
        # Short, and never cancelled: event loops differ in what then happens to the socket.
        self._attaching = OwnedTasks()
        self._refusals = SparseLog(log, logging.WARNING)
        self._waits = SparseLog(log, logging.WARNING)

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def counters(self) -> NetworkCounters:
        return self._context.counters

    @property
    def connections(self) -> tuple[Connection, ...]:
        return tuple(self._context.connections)

    async def open(self) -> None:
        """Bind the port; the system refuses clients until `start`."""
        self._sockets = await self._bind(self.settings)
        self.port = self._sockets[0].getsockname()[1]

    def start(self) -> None:
        for listening in self._sockets:
            listening.listen(self.settings.backlog)
            self._loop.add_reader(listening, self._accept_batch, listening)

    def stop(self) -> None:
        """Accept no further connection, and release the port."""
        self._context.is_closing = True
        for timer in self._paused.values():
            timer.cancel()
        for sock, timer in self._delayed.items():
            timer.cancel()
            sock.close()
        self._paused.clear()
        self._delayed.clear()
        self._waiting_for_resources.clear()
        for listening in self._sockets:
            self._loop.remove_reader(listening)
            listening.close()
        self._sockets = []

    async def settled(self) -> None:
        """Return when every accepted connection is open or closed."""
        await self._attaching.finish()

    async def emptied(self) -> None:
        """Return when no connection is open."""
        await self.settled()
        while self._context.connections:
            await self._context.emptied.wait()

    def _accept_batch(self, listening: socket.socket) -> None:
        for _ in range(self._accepts_now()):
            if (quota := self._admission.full_quota) is not None:
                self._wait_for_room(listening, quota)
                return
            try:
                sock, address = listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    log.error("listener %s cannot accept connections now: %s", self.name, error)
                    self._pause_accepting(listening, ACCEPT_AGAIN_S)
                    return
                continue  # the client closed it before it was accepted
            host, port = normal_address(address[0]), address[1]
            if wait_ms := self._admission.charge(self._now_ms()):
                self._pause_accepting(listening, wait_ms / 1000)
                self._delay(sock, wait_ms, partial(self._admit_delayed, sock, host, port))
                return
            self._admit(sock, host, port)

    def _accepts_now(self) -> int:
        """How many connections are accepted in this iteration; the others wait in the backlog."""
        scheduler = self._context.network.scheduler
        if not scheduler.is_busy:
            return ACCEPTS_PER_ITERATION
        return max(1, ACCEPTS_WHILE_BUSY - scheduler.newcomers)

    def _admit(self, sock: socket.socket, host: str, port: int) -> None:
        refused = self._admission.admit(host, self._now_ms())
        if refused is not None:
            self._refused(refused.why, host)
            if refused.close_after_ms and len(self._delayed) < min(
                DELAYED_MAX, self._admission.room // 2
            ):
                self._delay(sock, refused.close_after_ms, partial(self._close_delayed, sock))
            else:
                sock.close()
            return
        self._connections_counted += 1
        local_host, local_port = sock.getsockname()[:2]
        local = f"{normal_address(local_host)}:{local_port}"
        connection_id = f"{local}-{host}:{port}-{self._connections_counted}"
        connection = Connection(self._context, host, port, connection_id)
        task = self._attaching.start(self._attach(sock, connection), name=f"accept {connection_id}")
        task.add_done_callback(lambda _: self._attach_ended(sock, connection))

    async def _attach(self, sock: socket.socket, connection: Connection) -> None:
        try:
            prepare_accepted(sock, self.settings)
            # TLS: `ssl` and `ssl_handshake_timeout` of the same call. The sender then does not use
            # `sendfile`.
            await self._loop.connect_accepted_socket(connection.take_socket, sock)
        except OSError as error:
            log.debug("%r was lost while it was being opened: %s", connection, error)

    def _attach_ended(self, sock: socket.socket, connection: Connection) -> None:
        if not connection.has_socket:
            sock.close()
        if not connection.is_made:
            connection.abandon()
            self._context.release(connection)

    def _delay(self, sock: socket.socket, wait_ms: int, then: Callable[[], None]) -> None:
        """Keep the socket without a response, and call `then` after `wait_ms`."""
        self._delayed[sock] = self._loop.call_later(wait_ms / 1000, then)

    def _admit_delayed(self, sock: socket.socket, host: str, port: int) -> None:
        if sock not in self._delayed:
            return  # `stop` closed it
        if (quota := self._admission.full_quota) is not None:
            quota.when_room(partial(self._admit_delayed, sock, host, port))
            return
        del self._delayed[sock]
        self._admit(sock, host, port)

    def _close_delayed(self, sock: socket.socket) -> None:
        del self._delayed[sock]
        sock.close()

    def _now_ms(self) -> int:
        return round(self._loop.time() * 1000)

    def _wait_for_room(self, listening: socket.socket, quota: ConnectionQuota) -> None:
        self._loop.remove_reader(listening)
        self._waiting_for_resources.add(listening)
        quota.when_room(lambda: self._has_room(listening))
        self._waits.write(
            self._loop.time(),
            "listener %s accepts no new connections: %d are open, the limit",
            self.name,
            quota.open_connections,
        )

    def _has_room(self, listening: socket.socket) -> None:
        if listening in self._waiting_for_resources:  # else `stop` closed it
            self._waiting_for_resources.remove(listening)
            self._loop.add_reader(listening, self._accept_batch, listening)

    def _pause_accepting(self, listening: socket.socket, seconds: float) -> None:
        loop = self._loop
        loop.remove_reader(listening)
        self._paused[listening] = loop.call_later(seconds, lambda: self._accept_again(listening))

    def _accept_again(self, listening: socket.socket) -> None:
        del self._paused[listening]
        self._loop.add_reader(listening, self._accept_batch, listening)

    def _refused(self, refusal: Refusal, host: str) -> None:
        self.counters.connections_refused[refusal] += 1
        now_s = self._loop.time()
        self._refusals.write(
            now_s,
            "listener %s refused a connection from %s: %s",
            self.name,
            shown(host),
            refusal.value,
        )
