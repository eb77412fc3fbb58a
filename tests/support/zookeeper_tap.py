"""Listens in between brokers and a ZooKeeper server: how many pings and other requests there were.

Owns      one listening port, and a connection to the server for each that a client opens.
Promises  bytes are passed on as they are.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import threading
from collections import Counter
from typing import Self

from ottla.base.ports import non_ephemeral_ports

PING = 11
SHORT = struct.Struct(">i")
HEADER = struct.Struct(">ii")  # xid and kind of request, after the length
CHUNK_BYTES = 65536


class ZooKeeperTap:
    def __init__(self, server: str) -> None:
        host, _, port = server.rpartition(":")
        self._server = host, int(port)
        self.port = non_ephemeral_ports(1)[0]
        self._kinds: Counter[int] = Counter()
        self._mutex = threading.Lock()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._run(),), daemon=True)
        self._stop: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._stop is not None
        loop, event = self._stop
        loop.call_soon_threadsafe(event.set)
        self._thread.join(10)

    @property
    def pings(self) -> int:
        with self._mutex:
            return self._kinds[PING]

    @property
    def others(self) -> dict[int, int]:
        """Counts by kind, as ZooKeeper numbers them: 3 exists, 4 get, 8 children, 14 multi."""
        with self._mutex:
            return {kind: count for kind, count in self._kinds.items() if kind != PING}

    async def _run(self) -> None:
        stopping = asyncio.Event()
        self._stop = asyncio.get_running_loop(), stopping
        server = await asyncio.start_server(self._serve, "localhost", self.port)
        async with server:
            self._ready.set()
            await stopping.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(*self._server)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await asyncio.wait(
                [
                    asyncio.ensure_future(self._requests(reader, to_server)),
                    asyncio.ensure_future(self._answers(from_server, writer)),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        for each in (writer, to_server):
            each.transport.abort()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_first = True  # the request for a session has no kind
        while True:
            size = await reader.readexactly(SHORT.size)
            frame = await reader.readexactly(SHORT.unpack(size)[0])
            if not is_first:
                self._note(HEADER.unpack_from(frame)[1])
            is_first = False
            writer.write(size + frame)
            await writer.drain()

    def _note(self, kind: int) -> None:
        with self._mutex:
            self._kinds[kind] += 1

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
