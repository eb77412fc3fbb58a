"""One connection to another broker: requests in any number, each with a deadline.

Owns      a socket, and the requests without a response.
Promises  a response reaches the request with its correlation id, and is decoded in the version of
          the request. After a malformed response, a deadline or a lost connection every request
          that waits gets ResponseLost, some at a time, and the connection is closed: a broker
          responds in order, so that a late response delays all that follow.
Leaves    API versions and reconnecting to `channel.py`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from ottla.base.scheduling.callback_queue import TASKS_MAX, CallbackQueue, untimed
from ottla.network.channel.errors import ResponseLost
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import FrameReader
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class

CORRELATION_ID_MASK = 0x7FFFFFFF


@dataclass(slots=True)
class _WaitingRequest:
    key: ApiKey
    version: int
    response: asyncio.Future[Any]
    deadline: asyncio.TimerHandle


class OutboundConnection(asyncio.BufferedProtocol):
    def __init__(self, peer: str, client_id: str, frame_bytes_max: int) -> None:
        self._peer = peer
        self._client_id = client_id
        self._reader = FrameReader(frame_bytes_max)
        self._waiting: dict[int, _WaitingRequest] = {}  # by correlation id
        self._sent = 0
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(
        self, key: ApiKey, version: int, request: Message, timeout_s: float
    ) -> asyncio.Future[Any]:
        """Send a request; the future gets its response."""
        response: asyncio.Future[Any] = self._loop.create_future()
        if self._transport is None:
            response.set_exception(ResponseLost(f"{self._peer}: the connection was lost"))
            return response
        self._sent = (self._sent + 1) & CORRELATION_ID_MASK
        correlation_id = self._sent
        segments = encode_request(key, version, correlation_id, self._client_id, request)
        deadline = self._loop.call_later(timeout_s, self._time_out, key, timeout_s)
        self._waiting[correlation_id] = _WaitingRequest(key, version, response, deadline)
        self._transport.writelines(segments)
        return response

    def close(self, reason: str = "the connection was closed") -> None:
        """Every request that waits gets ResponseLost."""
        if self._transport is not None:
            self._transport.abort()
        self._fail_all(reason)

    # asyncio calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's have another base

    def get_buffer(self, _size_hint: int) -> memoryview:
        return self._reader.next_buffer()

    def buffer_updated(self, count: int) -> None:
        try:
            for frame in self._reader.received(count):
                self._take(frame)
        except MalformedMessage as error:
            self.close(f"a response cannot be decoded: {error}")

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        reason = "the peer closed the connection" if error is None else str(error)
        self._fail_all(reason)

    def _take(self, frame: memoryview) -> None:
        correlation_id = int.from_bytes(frame[:4], "big")
        waiting = self._waiting.get(correlation_id)
        if waiting is None:
            raise MalformedMessage(f"it answers request {correlation_id}, which was not sent")
        _, at = decode_response_header(waiting.key, waiting.version, frame)
        response = response_class(waiting.key).decode(frame, waiting.version, at)
        del self._waiting[correlation_id]
        waiting.deadline.cancel()
        if not waiting.response.done():
            waiting.response.set_result(response)

    def _time_out(self, key: ApiKey, timeout_s: float) -> None:
        self.close(f"no response to {key.name} within {timeout_s:g} s")

    def _fail_all(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, {}
        failures = CallbackQueue(TASKS_MAX, untimed)
        for each in waiting.values():
            each.deadline.cancel()
            failures.run(partial(_fail, each.response, f"{self._peer}: {reason}"))


def _fail(response: asyncio.Future[Any], reason: str) -> None:
    if not response.done():
        response.set_exception(ResponseLost(reason))
