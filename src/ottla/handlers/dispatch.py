"""From a frame to an answer: find the handler, and turn every outcome into bytes.

Promises  whatever a handler does, its client gets an answer in the version it asked in, and its
          neighbours notice nothing. Only a frame that cannot be read closes the connection.
Leaves    the order of a connection's requests to the network.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from ottla.handlers import registry
from ottla.handlers.context import Context, Peer
from ottla.handlers.quotas.request_time import Timed, begin_time, charge_time, note_rest, spend_time
from ottla.handlers.registry import Handler, handler_of
from ottla.handlers.served import SERVED
from ottla.network.served import Answer, Served, Waiting, Working
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, MalformedMessage
from ottla.protocol.headers import decode_request_header, encode_response
from ottla.protocol.message import Message
from ottla.protocol.messages.api_versions_response import ApiVersionsResponse

if TYPE_CHECKING:
    from ottla.handlers.parts import Parts
    from ottla.network.connection import Connection

log = logging.getLogger(__name__)

# Of all arrays of a request. A hundred times what clients send and, as objects, about a hundred
# megabytes.
ITEMS_MAX = 1_000_000
# Beyond so many an item must take four bytes on average, as numbers do. Without that bound a frame
# of empty structures, of two bytes each, would take 58 times its size.
ITEMS_MIN = 20_000
ITEM_BYTES = 4
SMALL_FRAME_BYTES = 2 * ITEMS_MIN  # whatever it is made of: it needs no bound
# Larger ones are decoded in a thread: that may take a tenth of a second and more, in which others
# have their turn every few milliseconds. Produce has few parts for its size, and leaves the rest.
DECODED_HERE_BYTES_MAX = 256 * 1024

_HANDLERS: dict[tuple[ApiKey, int], Handler] = {}  # of what was asked for so far


def find_handler(key: ApiKey, version: int) -> Handler | None:
    """None for what is not served."""
    served = SERVED.get(key)
    if served is None or version not in served.versions:
        return None
    return _HANDLERS.setdefault((key, version), handler_of(key))


class Dispatcher:
    """Serves the requests of every connection."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._decoding = asyncio.Lock()  # one at a time: together they would take memory, not less
        self._in_line: dict[Connection, asyncio.Task[object]] = {}  # who waits for it

    def opened(self, connection: Connection) -> None:
        connection.session = Peer(
            connection.listener_name, connection.peer_host, connection.peer_port
        )

    def closed(self, connection: Connection) -> None:
        connection.session = None
        # Requests are counted with their connections: the frame of one that is gone would take
        # memory that nobody knows of, and there may be many.
        if (waiting := self._in_line.pop(connection, None)) is not None:
            waiting.cancel()

    def serve(self, frame: memoryview, connection: Connection) -> Served:
        key, version, correlation_id, client_id, at = decode_request_header(frame)
        handler = _HANDLERS.get((key, version)) or find_handler(key, version)
        if handler is None:
            return refuse_version(key, version, correlation_id)
        peer, size = connection.session, len(frame)
        assert isinstance(peer, Peer)
        context = Context(self._parts, peer, key, version, correlation_id, client_id, size)
        if self._parts.quotas.request is not None:
            begin_time(context)
        if size <= SMALL_FRAME_BYTES:
            request, _ = handler.request.decode_prefix(frame, version, at)
        elif size <= DECODED_HERE_BYTES_MAX or key is ApiKey.PRODUCE:
            request = decode_large(handler, frame, version, at)
        else:
            return Working(self._decode_and_begin(handler, frame, at, context, connection))
        return self._begin(handler, request, context)

    async def _decode_and_begin(
        self,
        handler: Handler,
        frame: memoryview,
        at: int,
        context: Context,
        connection: Connection,
    ) -> Served:
        await self._wait_in_line(connection)
        try:
            if context.began_s is not None:
                begin_time(context)
            request = await asyncio.to_thread(decode_large, handler, frame, context.version, at)
            return self._begin(handler, request, context)
        finally:
            self._decoding.release()

    async def _wait_in_line(self, connection: Connection) -> None:
        if connection.session is None:
            raise asyncio.CancelledError  # gone before this task had its first turn
        task = asyncio.current_task()
        assert task is not None
        self._in_line[connection] = task
        try:
            await self._decoding.acquire()
        finally:
            self._in_line.pop(connection, None)

    def _begin(self, handler: Handler, request: Message, context: Context) -> Served:
        try:
            outcome = handler.function(request, context)
        except MalformedMessage:
            raise  # the connection is all that is left to answer with
        except Exception as error:
            outcome = refusal(handler, request, context, error)
        if isinstance(outcome, Message) or outcome is None:
            return encode_answer(outcome, context)
        spend_time(context)
        if isinstance(outcome, registry.Working):
            return Working(finish(handler, request, context, outcome.answer))
        finishing = finish(handler, request, context, outcome)
        return Working(finishing) if handler.is_working else Waiting(finishing)


def decode_large(handler: Handler, frame: memoryview, version: int, at: int) -> Message:
    """For any thread."""
    items_max = min(ITEMS_MAX, ITEMS_MIN + len(frame) // ITEM_BYTES)
    request, _ = handler.request.decode_bounded(frame, version, at, items_max)
    return request


async def finish(
    handler: Handler,
    request: Message,
    context: Context,
    outcome: Awaitable[Message | None],
) -> Answer:
    try:
        response = await (outcome if context.began_s is None else Timed(outcome, context))
    except MalformedMessage:
        raise
    except Exception as error:
        response = refusal(handler, request, context, error)
    return encode_answer(response, context)


def encode_answer(response: Message | None, context: Context) -> Answer:
    """The frame; without a response the client wants none (acks=0)."""
    charge_time(context)
    if response is None:
        return Answer([], context.throttle_ms)
    if context.throttle_ms and hasattr(response, "throttle_time_ms"):
        response.throttle_time_ms = context.throttle_ms
    segments = encode_response(context.key, context.version, context.correlation_id, response)
    if context.charged_s is not None:
        note_rest(context)
    return Answer(segments, context.throttle_ms)


def refusal(handler: Handler, request: Message, context: Context, error: Exception) -> Message:
    """What a client is told about trouble. Here alone catching everything is right."""
    if isinstance(error, BrokerError):
        return handler.refuse(request, error.code, error.message, context.version)
    log.error("bug while handling %s v%s", context.key.name, context.version, exc_info=error)
    return handler.refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR, "", context.version)


def refuse_version(key: ApiKey, version: int, correlation_id: int) -> Answer:
    """ApiVersions is how clients find out: it is answered in the oldest form, with the range."""
    if key != ApiKey.API_VERSIONS:
        raise MalformedMessage(f"{key.name} version {version} is not served")
    from ottla.handlers.api_versions import announced_range

    response = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[announced_range(key)]
    )
    return Answer(encode_response(key, 0, correlation_id, response))
