"""A real network in a thread of its own, a server whose answers tests script, blocking clients."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import resource
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from ottla.base.clock import Clock
from ottla.network.connection import Connection
from ottla.network.network import Network
from ottla.network.request_server import Answer, AwaitingAnswer, Served, TakingEffect
from ottla.network.settings import ConnectionSettings, ListenerSettings, NetworkSettings
from ottla.protocol.errors import MalformedMessage

T = TypeVar("T")

PATIENCE_S = 120.0  # how long a test waits for what must happen; never for what must not
LOOPS = ["asyncio", "uvloop"]


def new_loop(kind: str) -> asyncio.AbstractEventLoop:
    if kind == "asyncio":
        return asyncio.new_event_loop()
    if importlib.util.find_spec("uvloop") is None:
        pytest.skip("uvloop is not installed")
    loop: asyncio.AbstractEventLoop = importlib.import_module("uvloop").new_event_loop()
    return loop


def need_descriptors(count: int) -> None:
    """Skip the test where the machine does not allow so many open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        pytest.skip(f"needs {count} open files, {hard} are allowed")
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def answer_of(body: bytes, **options: Any) -> Answer:
    return Answer([framed(body)], **options)


class ScriptedServer:
    """Echoes a frame, unless a script is there for its first byte."""

    def __init__(self) -> None:
        self.scripts: dict[int, Callable[[bytes, Connection], Served]] = {}
        self.begun: list[bytes] = []
        self.opened_connections: list[Connection] = []
        self.closed_connections: list[Connection] = []
        self._held: dict[bytes, asyncio.Future[Answer]] = {}
        self.script(b"W", lambda body, _: AwaitingAnswer(self._hold(body)))
        self.script(b"K", lambda body, _: TakingEffect(self._hold(body)))
        self.script(b"D", lambda body, _: TakingEffect(self._hold_twice(body)))
        self.script(b"A", lambda body, _: AwaitingAnswer(self._hold_as_coroutine(body)))
        self.script(b"N", lambda *_: Answer([]))

    def script(self, first: bytes, reaction: Callable[[bytes, Connection], Served]) -> None:
        self.scripts[first[0]] = reaction

    def opened(self, connection: Connection) -> None:
        self.opened_connections.append(connection)

    def closed(self, connection: Connection) -> None:
        self.closed_connections.append(connection)

    def serve(self, frame: memoryview, connection: Connection) -> Served:
        if not len(frame):
            raise MalformedMessage("a request without a header")
        body = bytes(frame)
        self.begun.append(body)
        reaction = self.scripts.get(frame[0])
        return answer_of(body) if reaction is None else reaction(body, connection)

    def is_held(self, body: bytes) -> bool:
        return body in self._held

    def release(self, body: bytes) -> None:
        """Let the waiting or working request with this frame have its answer: an echo."""
        future = self._held.pop(body)
        if not future.done():
            future.set_result(answer_of(body))

    async def _hold_as_coroutine(self, body: bytes) -> Answer:
        return await self._hold(body)

    async def _hold_twice(self, body: bytes) -> Served:
        """Work, and then only wait."""
        await self._hold(b"work of " + body)
        return AwaitingAnswer(self._hold(body))

    def _hold(self, body: bytes) -> Awaitable[Answer]:
        future = self._held[body] = asyncio.get_running_loop().create_future()
        return future


class Client:
    def __init__(self, address: tuple[str, int], source: str | None = None) -> None:
        bound = (source, 0) if source else None
        self.socket = socket.create_connection(address, PATIENCE_S, bound)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, *bodies: bytes) -> None:
        self.socket.sendall(b"".join(map(framed, bodies)))

    def receive(self) -> bytes:
        return self.receive_bytes(int.from_bytes(self.receive_bytes(4), "big"))

    def receive_bytes(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(min(1 << 20, size - len(data)))
            if not part:
                raise ConnectionError(f"closed after {len(data)} of {size} bytes")
            data += part
        return bytes(data)

    def ask(self, body: bytes) -> bytes:
        self.send(body)
        return self.receive()

    def receive_to_the_end(self) -> bytes:
        """Whatever still comes until the server closes; fails if it does not."""
        data = bytearray()
        with contextlib.suppress(ConnectionResetError):
            while part := self.socket.recv(1 << 20):
                data += part
        return bytes(data)

    def close(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        """Leave without a farewell, as a process that is killed with unread answers does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RunningNetwork:
    def __init__(self, network: Network, server: ScriptedServer, loop_kind: str) -> None:
        self.network = network
        self.server = server
        self.loop = new_loop(loop_kind)
        self._task: asyncio.Task[None] | None = None
        self._is_open: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="network")
        self._clients: list[Client] = []

    def start(self) -> None:
        self._thread.start()
        self._is_open.result(PATIENCE_S)

    def connect(self, listener: str = "PLAINTEXT", source: str | None = None) -> Client:
        client = Client(("127.0.0.1", self.network.listeners[listener].port), source)
        self._clients.append(client)
        return client

    def call(self, function: Callable[[], T]) -> T:
        """Run in the network's loop, and return the result."""

        async def run() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE_S)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return when the condition holds, looked at in every round of the network's loop."""

        async def wait() -> None:
            while not condition():
                await asyncio.sleep(0.001)

        asyncio.run_coroutine_threadsafe(wait(), self.loop).result(PATIENCE_S)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The network's loop stands still meanwhile: what clients do happens at once for it."""
        may_go_on = threading.Event()
        self.loop.call_soon_threadsafe(may_go_on.wait)
        try:
            yield
        finally:
            may_go_on.set()

    def drain(self, seconds: float) -> None:
        coroutine = self.network.drain(seconds)
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE_S)

    def stop(self) -> None:
        for client in self._clients:
            client.close()
        self.loop.call_soon_threadsafe(lambda: self._task and self._task.cancel())
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            with contextlib.suppress(asyncio.CancelledError):
                self.loop.run_until_complete(self._main())
        finally:
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

    async def _main(self) -> None:
        try:
            await self.network.open()
        except BaseException as error:
            self._is_open.set_exception(error)
            raise
        self._task = asyncio.ensure_future(self.network.run())
        self.loop.call_soon(self._is_open.set_result, None)
        await self._task


def network_settings(
    connection: ConnectionSettings | None = None, **options: Any
) -> NetworkSettings:
    """One listener PLAINTEXT on 127.0.0.1, with times kept to 10 ms."""
    listener = ListenerSettings(
        "PLAINTEXT", "127.0.0.1", connection=connection or ConnectionSettings(), backlog=1024
    )
    return NetworkSettings(**{"listeners": (listener,), "tick_ms": 10, **options})


@contextmanager
def running(
    settings: NetworkSettings | None = None,
    server: ScriptedServer | None = None,
    loop_kind: str = "asyncio",
    clock: Clock | None = None,
) -> Iterator[RunningNetwork]:
    server = server or ScriptedServer()
    made = Network(settings or network_settings(), server, clock=clock)
    network = RunningNetwork(made, server, loop_kind)
    network.start()
    try:
        yield network
    finally:
        network.stop()
