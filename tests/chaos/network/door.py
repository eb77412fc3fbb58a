"""One TCP proxy: a port in front of a server, through which rules let bytes pass or wait.

Promises  bytes are passed on as they are, in order, and the end of a connection after them. While
          the door is shut, connections are refused, as they are by the port of a dead process.
          A connection to the server is opened for each that a client opens, at once: a client that
          sends nothing still notices the end of the server's process.
"""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import Callable, Coroutine
from contextlib import suppress
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

from tests.chaos.network.client_id import client_id
from tests.chaos.network.rules import Direction, Passage

CHUNK_BYTES = 256 * 1024
HOST = "127.0.0.1"
FILLED = b"0123456789abcdef"  # what most records of the workload consist of
RESET = struct.pack("ii", 1, 0)  # close without waiting: the peer gets RST
Judge = Callable[[str, str, Direction], Passage]


class Connection:
    def __init__(self, name: str, client: asyncio.StreamWriter, server: asyncio.StreamWriter):
        self.source = ""
        self.target = name
        self._writers = (client, server)

    def reset(self) -> None:
        for writer in self._writers:
            with suppress(OSError):
                writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, RESET)
            writer.transport.abort()


class Door:
    def __init__(
        self, name: str, port: int, target: int, judge: Judge, changed: asyncio.Condition
    ) -> None:
        self.name = name
        self._port = port
        self._target = target
        self._judge = judge
        self._changed = changed
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections: set[Connection] = set()
        self.dropped = 0  # pieces of data, each with its connection
        self.flipped = 0  # bits

    async def open(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, HOST, self._port)

    def shut(self) -> None:
        """Connections that exist continue."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def close(self) -> None:
        self.shut()
        for task in self._tasks:
            task.cancel()
        for connection in tuple(self.connections):
            connection.reset()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._own(self._serve(reader, writer))

    def _own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_server, to_server = await asyncio.open_connection(HOST, self._target)
        except OSError:
            writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, RESET)
            writer.transport.abort()
            return
        connection = Connection(self.name, writer, to_server)
        self.connections.add(connection)
        try:
            await asyncio.gather(
                self._pass(connection, reader, to_server, Direction.REQUESTS),
                self._pass(connection, from_server, writer, Direction.ANSWERS),
            )
        except OSError:
            pass
        finally:
            connection.reset()
            self.connections.discard(connection)

    async def _pass(
        self,
        connection: Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        direction: Direction,
    ) -> None:
        first = b""
        while True:
            data = await reader.read(CHUNK_BYTES)
            if direction is Direction.REQUESTS and not connection.source:
                first += data
                connection.source = client_id(first) or ""
            found = await self._wait(connection, direction)
            if data and random.random() < found.drop_share:
                self.dropped += 1
                connection.reset()
                return
            if not data:
                with suppress(OSError, RuntimeError):
                    writer.write_eof()
                return
            if random.random() < found.flip_share:
                data = self._flip(data)
            writer.write(data)
            await writer.drain()

    def _flip(self, data: bytes) -> bytes:
        at = data.find(FILLED)
        if at < 0:
            return data
        self.flipped += 1
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    async def _wait(self, connection: Connection, direction: Direction) -> Passage:
        """Until the rules let data pass; what else they say."""
        while True:
            found = self._judge(connection.source, connection.target, direction)
            if found.delay_s:
                await asyncio.sleep(found.delay_s)
            if found.is_open:
                return found
            async with self._changed:
                await self._changed.wait()
