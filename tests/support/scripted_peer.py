"""Another broker as a test scripts it: what it supports, which requests it answers, and when."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass
from typing import Any, Self

from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.headers import decode_request_header, encode_response
from ottla.protocol.message import Message
from ottla.protocol.messages import request_class
from ottla.protocol.messages.api_versions_response import ApiVersion, ApiVersionsResponse


@dataclass(frozen=True)
class Received:
    """A request that waits for `answer`."""

    key: ApiKey
    version: int
    correlation_id: int
    message: Any
    writer: asyncio.StreamWriter

    def answer(self, response: Message) -> None:
        segments = encode_response(self.key, self.version, self.correlation_id, response)
        self.writer.writelines([bytes(each) for each in segments])


class ScriptedPeer:
    """`received` has the requests in their order; ApiVersions is answered as soon as `is_ready` is
    set. `ended` has one item for each connection that was closed."""

    def __init__(self, versions: dict[ApiKey, range] | None = None, port: int = 0) -> None:
        self._versions = versions or {key: api.versions for key, api in APIS.items()}
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self.port = port
        self.is_ready = asyncio.Event()
        self.is_ready.set()
        self.connections = 0
        self.received: asyncio.Queue[Received] = asyncio.Queue()
        self.ended: asyncio.Queue[None] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        """As when the process ends: its connections are closed too."""
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while True:
                (size,) = struct.unpack(">i", await reader.readexactly(4))
                await self._take(memoryview(await reader.readexactly(size)), writer)
        except (asyncio.IncompleteReadError, OSError):
            self.ended.put_nowait(None)
        writer.close()

    async def _take(self, frame: memoryview, writer: asyncio.StreamWriter) -> None:
        key, version, correlation_id, _, at = decode_request_header(frame)
        message = request_class(key).decode(frame, version, at)
        received = Received(key, version, correlation_id, message, writer)
        if key is not ApiKey.API_VERSIONS:
            self.received.put_nowait(received)
            return
        await self.is_ready.wait()
        offered = [
            ApiVersion(key, each.start, each.stop - 1) for key, each in self._versions.items()
        ]
        received.answer(ApiVersionsResponse(api_keys=offered))
