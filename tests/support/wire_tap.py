"""Listens in between clients and a broker: who sent which request, in which version.

    with WireTap() as tap, RunningBroker(config=tap.broker_config, port=tap.broker_port) as broker:
        ...  # clients bootstrap from `broker.bootstrap_servers`, which is the tap's address
        assert tap.versions(ApiKey.METADATA, by="kafka-python")

Owns      one listening port, and a connection to the broker for each that a client opens.
Promises  bytes are passed on as they are. Clients go by the beginning of their client id.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import threading
from collections import defaultdict
from typing import Self

from ottla.protocol.api_keys import ApiKey
from ottla.testing.ports import non_ephemeral_ports

HEADER = struct.Struct(">ihhih")  # length, key, version, correlation id, length of the client id


class Requests:
    """What has been sent so far: (client id, key) to versions."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, ApiKey], set[int]] = defaultdict(set)
        self._mutex = threading.Lock()

    def note(self, frame: bytes) -> None:
        _, key, version, _, size = HEADER.unpack_from(frame)
        client_id = frame[HEADER.size : HEADER.size + max(0, size)].decode(errors="replace")
        with self._mutex:
            self._versions[client_id, ApiKey(key)].add(version)

    def versions(self, key: ApiKey, by: str) -> set[int]:
        with self._mutex:
            return {
                version
                for (client_id, asked), versions in self._versions.items()
                if asked == key and client_id.startswith(by)
                for version in versions
            }


class WireTap:
    def __init__(self) -> None:
        self.port, self.broker_port = non_ephemeral_ports(2)
        self.broker_config = {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}"}
        self._requests = Requests()
        self._is_open = threading.Event()
        self._tasks: set[asyncio.Future[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._run, name="wire tap", daemon=True)

    def versions(self, key: ApiKey, by: str) -> set[int]:
        """In which versions a client has sent this request."""
        return self._requests.versions(key, by)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._is_open.wait(120)
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self._is_open.set()
        await self._end.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        for _ in range(3):
            await asyncio.sleep(0)  # the transports close their sockets

    def _accept(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self._writers.add(to_client)
        task = asyncio.ensure_future(self._accepted(client, to_client))
        task.add_done_callback(self._tasks.discard)
        self._tasks.add(task)

    async def _accepted(
        self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        """Forward bytes in both directions until one side ends; an absent broker closes it too."""
        try:
            with contextlib.suppress(OSError):
                broker, to_broker = await asyncio.open_connection("127.0.0.1", self.broker_port)
                self._writers.add(to_broker)
                try:
                    await self._pass_on(client, to_broker, broker, to_client)
                finally:
                    to_broker.close()
                    self._writers.discard(to_broker)
        finally:
            to_client.close()
            self._writers.discard(to_client)

    async def _pass_on(
        self,
        client: asyncio.StreamReader,
        to_broker: asyncio.StreamWriter,
        broker: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
    ) -> None:
        ways = [
            asyncio.ensure_future(self._requests_of(client, to_broker)),
            asyncio.ensure_future(copy(broker, to_client)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _requests_of(
        self, client: asyncio.StreamReader, to_broker: asyncio.StreamWriter
    ) -> None:
        while True:
            length = await client.readexactly(4)
            frame = length + await client.readexactly(int.from_bytes(length, "big"))
            self._requests.note(frame)
            to_broker.write(frame)
            await to_broker.drain()


async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(1 << 16):
        target.write(data)
        await target.drain()
