"""A whole broker in this process, on a disk in memory, asked without sockets.

    with World() as world:
        answer = world.ask(MetadataRequest(None), 12)

Owns      the event loop that the broker's work runs in, the clock, the disk.
Promises  a question goes the way of a frame: encoded, decoded, handled, encoded, decoded. So an
          answer that its version cannot carry fails the test.
Leaves    real sockets and processes to `tests/compatibility`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from random import Random
from typing import Any, Self, TypeVar, cast

from ottla.broker.broker import Broker
from ottla.config.load import load_config
from ottla.handlers.serving.context import Peer
from ottla.handlers.serving.dispatch import Dispatcher
from ottla.network.connection import Connection
from ottla.network.request_server import Answer, Served
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk

T = TypeVar("T")
DIRECTORIES = ("/disk/a", "/disk/b")


class FakeConnection:
    """As much of a connection as a dispatcher looks at."""

    def __init__(self, host: str = "127.0.0.1", principal: str = "User:ANONYMOUS") -> None:
        self.session = Peer("PLAINTEXT", host, 50_000, principal)


class World:
    def __init__(
        self,
        config: Mapping[str, str] | None = None,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        clock: ManualClock | None = None,
    ) -> None:
        settings = {
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "advertised.listeners": "PLAINTEXT://127.0.0.1:9092",
            "log.dirs": ",".join(DIRECTORIES),
            **(config or {}),
        }
        self.loop = loop or asyncio.new_event_loop()
        self.clock = clock or ManualClock()
        self.disk = MemoryDisk(clock=self.clock)
        self.broker = Broker(
            load_config(settings=[f"{name}={value}" for name, value in settings.items()]),
            files=self.disk,
            clock=self.clock,
            rng=Random(7),
        )
        self.me = FakeConnection()
        self._correlation_id = 0

    def __enter__(self) -> Self:
        self.run(self.broker.open())
        self.dispatcher = Dispatcher(self.broker.parts)
        return self

    def __exit__(self, *_error: object) -> None:
        self.loop.call_soon(self.broker.network.stop_accepting)
        self.run(self.broker.close())
        self.run(self.loop.shutdown_default_executor())
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(work, 300))

    def ask(
        self,
        request: Message,
        version: int,
        *,
        by: FakeConnection | None = None,
        client_id: str | None = "test",
    ) -> Any:
        """The answer to a request; None where there is none."""
        answer = self.answer(request, version, by=by, client_id=client_id)
        if not answer.segments:
            return None
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
        frame = b"".join(bytes_of(segment) for segment in answer.segments)
        _, at = decode_response_header(key, version, memoryview(frame)[LENGTH_BYTES:])
        return response_class(key).decode(memoryview(frame)[LENGTH_BYTES:], version, at)

    def answer(
        self,
        request: Message,
        version: int,
        *,
        by: FakeConnection | None = None,
        client_id: str | None = "test",
    ) -> Answer:
        """What the network would be given."""
        return self.run(self._answer(request, version, by or self.me, client_id))

    async def _answer(
        self, request: Message, version: int, by: FakeConnection, client_id: str | None
    ) -> Answer:
        self._correlation_id += 1
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]
        frame = b"".join(encode_request(key, version, self._correlation_id, client_id, request))
        buffer = memoryview(bytearray(frame))[LENGTH_BYTES:]
        served: Served = self.dispatcher.serve(buffer, cast(Connection, by))
        while not isinstance(served, Answer):
            served = await served.answer
        return served

    # What most tests need

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> bytes:
        """Its id."""
        configs = [CreatableTopicConfig(*item) for item in (config or {}).items()]
        request = CreateTopicsRequest([CreatableTopic(name, partitions, 1, configs=configs)], 30000)
        (answer,) = self.ask(request, 7).topics
        assert answer.error_code == 0, answer
        topic_id: bytes = answer.topic_id
        return topic_id


def bytes_of(segment: Any) -> bytes:
    read = getattr(segment, "read", None)
    return bytes(segment) if read is None else bytes(read())
