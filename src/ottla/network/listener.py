"""Accepts the connections of one listener, within its limits.

Owns      the listening sockets and the connections that came in by them.
Promises  limits are exact: a connection is counted before it is accepted by us and until it is
          gone. One too many waits with the system until there is room, and one that comes faster
          than it may lets the others wait too; one too many of an address is closed. Running out
          of descriptors pauses accepting.
Leaves    what happens on a connection to `connection.py`, counting to `limits.py`.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from functools import partial

from ottla.base.log_text import shown
from ottla.base.sparse_log import SparseLog
from ottla.base.tasks import OwnedTasks
from ottla.network.connection import Connection
from ottla.network.counters import NetworkCounters
from ottla.network.home import Home, Shared
from ottla.network.limits import ConnectionGate, Refusal, WayIn, normal_address
from ottla.network.listening import bind_sockets, prepare_accepted
from ottla.network.served import RequestServer
from ottla.network.settings import ListenerSettings

log = logging.getLogger(__name__)

ACCEPTS_PER_TURN = 64  # before connections that are open have their turn
ACCEPT_AGAIN_S = 1.0  # after running out of descriptors or memory
HELD_MAX = 1000  # of an address that came too often; more are closed at once

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Listener:
    def __init__(
        self,
        settings: ListenerSettings,
        server: RequestServer,
        shared: Shared,
        broker_gate: ConnectionGate,
    ) -> None:
        self.settings = settings
        self.port = settings.port  # once it is open, the one that the machine chose
        self.gate = ConnectionGate(settings.limits)
        self._way_in = WayIn(self.gate, broker_gate, is_exempt=settings.is_exempt)
        self._home = Home(settings.name, settings.connection, server, shared, self._way_in)
        self._shared = shared
        self._sockets: list[socket.socket] = []
        self._paused: dict[socket.socket, asyncio.TimerHandle] = {}
        self._held: dict[socket.socket, asyncio.TimerHandle] = {}  # of clients that came too fast
        self._full: set[socket.socket] = set()  # whose clients wait for others to leave
        self._connections_begun = 0
        # Never cancelled, as event loops differ in what then happens to the socket; they are short.
        self._adopting = OwnedTasks()
        self._refusals = SparseLog(log, logging.WARNING)
        self._waits = SparseLog(log, logging.WARNING)

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def counters(self) -> NetworkCounters:
        return self._home.counters

    @property
    def connections(self) -> frozenset[Connection]:
        return frozenset(self._home.connections)

    async def open(self) -> None:
        """Take the port; clients are refused by the machine until `start`."""
        self._sockets = await bind_sockets(self.settings)
        self.port = self._sockets[0].getsockname()[1]

    def start(self) -> None:
        for listening in self._sockets:
            listening.listen(self.settings.backlog)
            self._shared.loop.add_reader(listening, self._accept_some, listening)

    def stop(self) -> None:
        """Accept no more, and give the port back."""
        self._home.is_ending = True
        for timer in self._paused.values():
            timer.cancel()
        for sock, timer in self._held.items():
            timer.cancel()
            sock.close()
        self._paused.clear()
        self._held.clear()
        self._full.clear()
        for listening in self._sockets:
            self._shared.loop.remove_reader(listening)
            listening.close()
        self._sockets = []

    async def settled(self) -> None:
        """Return when every connection that was accepted is open, or gone."""
        await self._adopting.finish()

    async def emptied(self) -> None:
        """Return when no connection is open."""
        await self.settled()
        while self._home.connections:
            await self._home.emptied.wait()

    def _accept_some(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTS_PER_TURN):
            if (gate := self._way_in.full_gate) is not None:
                self._wait_for_room(listening, gate)
                return
            try:
                sock, address = listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    log.error("listener %s cannot accept for a moment: %s", self.name, error)
                    self._pause_accepting(listening, ACCEPT_AGAIN_S)
                    return
                continue  # this one was gone before we took it
            host, port = normal_address(address[0]), address[1]
            if wait_ms := self._way_in.charge(self._now_ms()):
                self._pause_accepting(listening, wait_ms / 1000)
                self._hold(sock, wait_ms, partial(self._serve_held, sock, host, port))
                return
            self._accepted(sock, host, port)

    def _accepted(self, sock: socket.socket, host: str, port: int) -> None:
        refused = self._way_in.admit(host, self._now_ms())
        if refused is not None:
            self._refused(refused.why, host)
            if refused.close_after_ms and len(self._held) < min(HELD_MAX, self._way_in.room // 2):
                self._hold(sock, refused.close_after_ms, partial(self._close_held, sock))
            else:
                sock.close()
            return
        self._connections_begun += 1
        local_host, local_port = sock.getsockname()[:2]
        here = f"{normal_address(local_host)}:{local_port}"
        connection_id = f"{here}-{host}:{port}-{self._connections_begun}"
        connection = Connection(self._home, host, port, connection_id)
        task = self._adopting.start(self._adopt(sock, connection), name=f"accept {connection_id}")
        task.add_done_callback(lambda _: self._adopted(sock, connection))

    async def _adopt(self, sock: socket.socket, connection: Connection) -> None:
        try:
            prepare_accepted(sock, self.settings)
            # TLS belongs here: `ssl` and `ssl_handshake_timeout` of the same call. The sender
            # notices it, and sends files through the process.
            await self._shared.loop.connect_accepted_socket(connection.take_socket, sock)
        except OSError as error:
            log.debug("%r was lost while it was opened: %s", connection, error)

    def _adopted(self, sock: socket.socket, connection: Connection) -> None:
        if not connection.has_socket:
            sock.close()
        if not connection.is_made:
            connection.abandon()
            self._home.release(connection)

    def _hold(self, sock: socket.socket, wait_ms: int, then: Callable[[], None]) -> None:
        """Let its client wait before something becomes of it."""
        self._held[sock] = self._shared.loop.call_later(wait_ms / 1000, then)

    def _serve_held(self, sock: socket.socket, host: str, port: int) -> None:
        if sock not in self._held:
            return  # closed meanwhile
        if (gate := self._way_in.full_gate) is not None:
            gate.when_room(partial(self._serve_held, sock, host, port))
            return
        del self._held[sock]
        self._accepted(sock, host, port)

    def _close_held(self, sock: socket.socket) -> None:
        del self._held[sock]
        sock.close()

    def _now_ms(self) -> int:
        return round(self._shared.loop.time() * 1000)

    def _wait_for_room(self, listening: socket.socket, gate: ConnectionGate) -> None:
        self._shared.loop.remove_reader(listening)
        self._full.add(listening)
        gate.when_room(lambda: self._has_room(listening))
        self._waits.write(
            self._shared.loop.time(),
            "listener %s lets new connections wait: %d are open, as many as may be",
            self.name,
            gate.open_connections,
        )

    def _has_room(self, listening: socket.socket) -> None:
        if listening in self._full:  # and was not closed meanwhile
            self._full.remove(listening)
            self._shared.loop.add_reader(listening, self._accept_some, listening)

    def _pause_accepting(self, listening: socket.socket, seconds: float) -> None:
        loop = self._shared.loop
        loop.remove_reader(listening)
        self._paused[listening] = loop.call_later(seconds, lambda: self._accept_again(listening))

    def _accept_again(self, listening: socket.socket) -> None:
        del self._paused[listening]
        self._shared.loop.add_reader(listening, self._accept_some, listening)

    def _refused(self, refusal: Refusal, host: str) -> None:
        self.counters.connections_refused[refusal] += 1
        now_s = self._shared.loop.time()
        self._refusals.write(
            now_s,
            "listener %s refused a connection of %s: %s",
            self.name,
            shown(host),
            refusal.value,
        )
