"""A network without sockets, on an event loop in virtual time.

Owns      who listens where, the connections, and what is under way on them. Bytes arrive late, in
          order, in pieces. A host can be cut off from another: what is sent meanwhile arrives after
          that, as TCP sends it again. A connection can be reset, and a process can end.
Promises  the same seed delivers the same bytes at the same times.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from random import Random
from typing import Any, cast

from tests.simulation.cluster.trace import Trace
from tests.support.virtual_time import VirtualTimeLoop

from ottla.network.settings import ListenerSettings

Address = tuple[str, int]
HOST: ContextVar[str] = ContextVar("the host that the running task is on", default="client")
DELAY_MAX_S = 0.004
PIECE_BYTES = 4000


class SimulatedLoop(VirtualTimeLoop):
    """Jobs for threads run at once; connections are those of `network`."""

    network: Network

    def __init__(self) -> None:
        super().__init__()
        # A time that is rounded down to milliseconds must not be before the timer that has ended.
        self._virtual.overshoot_s = 1e-6

    def run_in_executor(self, _executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Any, host: str, port: int, **_options: Any
    ) -> tuple[SimulatedTransport, asyncio.BaseProtocol]:
        return await self.network.connect(protocol_factory, (host, port))

    async def connect_accepted_socket(  # type: ignore[override]
        self, protocol_factory: Any, sock: Any, **_options: Any
    ) -> tuple[SimulatedTransport, asyncio.BaseProtocol]:
        transport = cast(AcceptedSocket, sock).transport
        protocol = protocol_factory()
        transport.begin(protocol)
        return transport, protocol

    def add_reader(self, fd: Any, callback: Any, *args: Any) -> None:  # type: ignore[override]
        if isinstance(fd, ListeningSocket):
            fd.when_ready(lambda: callback(*args))
        else:
            super().add_reader(fd, callback, *args)

    def remove_reader(self, fd: Any) -> bool:
        if isinstance(fd, ListeningSocket):
            fd.when_ready(None)
            return True
        return super().remove_reader(fd)


class SimulatedTransport(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, network: Network, host: str, peer_host: str) -> None:
        super().__init__()
        self._network = network
        self.host, self.peer_host = host, peer_host
        self.peer: SimulatedTransport | None = None
        self._protocol: asyncio.BaseProtocol | None = None
        self._arrived: list[bytes | None] = []  # None is the end
        self._is_paused = False
        self._is_closing = False
        self._is_lost = False
        self._last_arrival_s = 0.0
        self._held: list[bytes | None] = []  # sent while the hosts cannot reach each other

    def begin(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol
        protocol.connection_made(self)
        self._network.loop.call_soon(self._feed)

    # What protocols use

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": (self.peer_host, 1), "sockname": (self.host, 2)}.get(name, default)

    def is_closing(self) -> bool:
        return self._is_closing

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        assert self._protocol is not None
        return self._protocol

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._network.loop.call_soon(self._feed)

    def is_reading(self) -> bool:
        return not self._is_paused

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def can_write_eof(self) -> bool:
        return False

    def write(self, data: Any) -> None:
        if not self._is_closing:
            self._send(bytes(data))

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        self.write(b"".join(map(bytes, list_of_data)))

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._send(None)
            self._network.loop.call_soon(self._lose, None)

    def abort(self) -> None:
        if not self._is_lost:
            self._is_closing = True
            self._network.loop.call_soon(self._lose, None)
            self._reset_peer()

    # The network

    def reset(self) -> None:
        """Something on the way has dropped the connection: both ends notice."""
        self._is_closing = True
        self._lose(ConnectionResetError(errno.ECONNRESET, "the connection was reset"))
        self._reset_peer()

    def _reset_peer(self) -> None:
        peer = self.peer
        if peer is not None and not peer._is_lost:
            at = self._network.arrival(self)
            self._network.loop.call_at(
                at, peer._lose, ConnectionResetError(errno.ECONNRESET, "reset")
            )

    def _send(self, data: bytes | None) -> None:
        self._network.trace.sent(self.host, self.peer_host, data)
        if self._network.is_cut(self.host, self.peer_host):
            self._held.append(data)
            return
        pieces: list[bytes | None] = [data]
        if data is not None and len(data) > PIECE_BYTES:
            pieces = [data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]
        for piece in pieces:
            at = self._last_arrival_s = max(
                self._network.arrival(self), self._last_arrival_s + 1e-6
            )
            self._network.loop.call_at(at, self._deliver, piece)

    def healed(self) -> None:
        held, self._held = self._held, []
        for each in held:
            self._send(each)

    def _deliver(self, data: bytes | None) -> None:
        peer = self.peer
        if peer is not None and not peer._is_lost:
            peer._arrived.append(data)
            peer._feed()

    def _feed(self) -> None:
        while self._arrived and not (self._is_paused or self._is_lost or self._protocol is None):
            data = self._arrived.pop(0)
            if data is None:
                if not cast(Any, self._protocol).eof_received():
                    self.close()
            elif isinstance(self._protocol, asyncio.BufferedProtocol):
                self._fill(self._protocol, data)
            else:
                cast(asyncio.Protocol, self._protocol).data_received(data)

    def _fill(self, protocol: asyncio.BufferedProtocol, data: bytes) -> None:
        at = 0
        while at < len(data) and not self._is_lost:
            if self._is_paused:
                self._arrived.insert(0, data[at:])
                return
            buffer = memoryview(cast(Any, protocol.get_buffer(-1)))
            count = min(len(buffer), len(data) - at)
            buffer[:count] = data[at : at + count]
            at += count
            protocol.buffer_updated(count)

    def _lose(self, error: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = self._is_closing = True
        self._network.transports.pop(self, None)
        if self._protocol is not None:
            self._protocol.connection_lost(error)


class AcceptedSocket:
    """What a listener accepts, until a transport is made of it."""

    def __init__(self, transport: SimulatedTransport, address: Address) -> None:
        self.transport = transport
        self._address = address

    def getsockname(self) -> Address:
        return self._address

    def setblocking(self, flag: bool) -> None: ...

    def setsockopt(self, *options: int) -> None: ...

    def close(self) -> None:
        self.transport.abort()


class ListeningSocket:
    def __init__(self, network: Network, address: Address) -> None:
        self._network = network
        self.address = address
        self._ready: Callable[[], None] | None = None
        self._waiting: list[tuple[SimulatedTransport, Address]] = []

    def getsockname(self) -> Address:
        return self.address

    def listen(self, _backlog: int) -> None:
        self._network.listening[self.address] = self

    def when_ready(self, callback: Callable[[], None] | None) -> None:
        self._ready = callback
        if callback is not None and self._waiting:
            self._network.loop.call_soon(callback)

    def arrived(self, transport: SimulatedTransport, address: Address) -> None:
        self._waiting.append((transport, address))
        if self._ready is not None:
            self._ready()

    def accept(self) -> tuple[AcceptedSocket, Address]:
        if not self._waiting:
            raise BlockingIOError
        transport, address = self._waiting.pop(0)
        return AcceptedSocket(transport, self.address), address

    def close(self) -> None:
        if self._network.listening.get(self.address) is self:
            del self._network.listening[self.address]
        for transport, _ in self._waiting:
            transport.abort()


class Network:
    def __init__(self, loop: SimulatedLoop, rng: Random, trace: Trace | None = None) -> None:
        self.loop = loop
        self.trace = trace or Trace(loop.time)
        loop.network = self
        self._rng = rng
        self.listening: dict[Address, ListeningSocket] = {}
        self.transports: dict[SimulatedTransport, None] = {}
        self._cuts: set[frozenset[str]] = set()
        self._connections = 0

    def bind(self, host: str) -> Callable[[ListenerSettings], Any]:
        async def bind(settings: ListenerSettings) -> list[socket.socket]:
            return [cast(socket.socket, ListeningSocket(self, (host, settings.port)))]

        return bind

    async def connect(
        self, protocol_factory: Callable[[], Any], address: Address
    ) -> tuple[SimulatedTransport, Any]:
        host = HOST.get()
        while True:
            await asyncio.sleep(self._delay_s())
            if not self.is_cut(host, address[0]):
                break
            await asyncio.sleep(0.2)  # as the system does; the caller has a timeout
        listening = self.listening.get(address)
        if listening is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"{address} refuses connections")
        here, there = (
            SimulatedTransport(self, host, address[0]),
            SimulatedTransport(self, address[0], host),
        )
        here.peer, there.peer = there, here
        self.transports[here] = self.transports[there] = None
        self._connections += 1
        listening.arrived(there, (host, 10_000 + self._connections))
        protocol = protocol_factory()
        here.begin(protocol)
        return here, protocol

    def _delay_s(self) -> float:
        return self._rng.uniform(0, DELAY_MAX_S)

    def arrival(self, _transport: SimulatedTransport) -> float:
        return self.loop.time() + self._delay_s()

    # Faults

    def is_cut(self, one: str, other: str) -> bool:
        return frozenset({one, other}) in self._cuts

    def cut(self, one: str, other: str) -> None:
        self._cuts.add(frozenset({one, other}))

    def heal(self) -> None:
        self._cuts.clear()
        for each in list(self.transports):
            each.healed()

    def reset_some(self, share: float) -> int:
        chosen = [each for each in list(self.transports) if self._rng.random() < share]
        for each in chosen:
            each.reset()
        return len(chosen)

    def end(self, host: str) -> None:
        """The process on this host has ended: the system closes what it had open."""
        for address in [each for each in self.listening if each[0] == host]:
            self.listening[address].close()
        for each in [each for each in list(self.transports) if each.host == host]:
            each.reset()
