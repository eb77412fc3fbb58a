"""From a frame to an answer: find the handler, call it, and pass its outcome to the network.

Promises  whatever a handler does, its client gets a response in the version of the request, and
          other requests are not affected. Only a frame that cannot be read closes the connection.
          Work that grows with the request never occupies the event loop for long: many items are
          decoded in a thread, handlers that are generators run in slices, and the response to
          either is encoded in a thread.
Leaves    the order of a connection's requests to the network, encoding to `response_encoding.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any, cast

from ottla.base.scheduling.step_scheduler import Work
from ottla.handlers.forwarding.relay import FORWARDED_WHOLE, ForwardedClient, ForwardedRequest
from ottla.handlers.quotas.request_time import Timed, begin_time, charge_time, spend_time
from ottla.handlers.serving import decoding, registry
from ottla.handlers.serving.context import Context, Peer
from ottla.handlers.serving.decoding import DecodedRequest, DecodingThread, decode_here
from ottla.handlers.serving.disposal import Pieces
from ottla.handlers.serving.large_responses import check_built, close_account
from ottla.handlers.serving.pending import EncodedLater, PendingResponse
from ottla.handlers.serving.registry import Handler, Outcome, handler_of
from ottla.handlers.serving.response_encoding import (
    answer_and_close_account,
    encode_answer,
    encode_large,
    refuse,
    refuse_large,
    storable,
)
from ottla.handlers.serving.served_apis import INTER_BROKER, SERVED
from ottla.network.addresses import network_of
from ottla.network.request_server import Answer, AwaitingAnswer, Served, TakingEffect
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.headers import decode_request_header, encode_response
from ottla.protocol.message import Message
from ottla.protocol.messages.api_versions_response import ApiVersionsResponse

if TYPE_CHECKING:
    from ottla.handlers.serving.parts import ClusterParts, Parts
    from ottla.network.connection import Connection

_HANDLERS: dict[tuple[ApiKey, int], Handler] = {}  # of requests so far


def find_handler(key: ApiKey, version: int) -> Handler | None:
    """None if the API or the version is not served."""
    served = SERVED.get(key)
    if served is None or version not in served.versions:
        return None
    return _HANDLERS.setdefault((key, version), handler_of(key))


class Dispatcher:
    """Serves the requests of every connection."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._decoding = DecodingThread(parts.scheduler.threads)
        self._large = parts.large_responses
        self._cluster = parts.cluster

    def opened(self, connection: Connection) -> None:
        connection.session = Peer(
            connection.listener_name, connection.peer_host, connection.peer_port
        )

    def closed(self, connection: Connection) -> None:
        peer, connection.session = connection.session, None
        if isinstance(peer, Peer):
            peer.is_disconnected = True
        self._decoding.closed(connection)

    def serve(self, frame: memoryview, connection: Connection) -> Served:
        key, version, correlation_id, client_id, at = decode_request_header(frame)
        handler = _HANDLERS.get((key, version)) or find_handler(key, version)
        peer, size = connection.session, len(frame)
        assert isinstance(peer, Peer)
        if handler is None:
            handler = self._find_for_broker(key, version, peer)
        if handler is None:
            return refuse_version(key, version, correlation_id)
        context = Context(self._parts, peer, key, version, correlation_id, client_id, size)
        if self._parts.quotas.request is not None:
            begin_time(context)
        if self._cluster is not None and key in FORWARDED_WHOLE:
            passing = self._pass_on(handler, bytes(frame), at, context, self._cluster, connection)
            return TakingEffect(passing)
        if size <= decoding.SMALL_FRAME_BYTES:
            return self._begin(
                handler, handler.request.decode_prefix(frame, version, at)[0], context
            )
        request = decode_here(handler.request, frame, version, at)
        if request is None:
            return TakingEffect(self._decode_and_begin(handler, frame, at, context, connection))
        return self._begin(handler, request, context)

    def _find_for_broker(self, key: ApiKey, version: int, peer: Peer) -> Handler | None:
        """The handler of a request between brokers; None for clients."""
        if self._cluster is None or peer.listener != self._cluster.listener:
            return None
        served = INTER_BROKER.get(key)
        return handler_of(key) if served is not None and version in served.versions else None

    async def _pass_on(
        self,
        handler: Handler,
        frame: bytes,
        at: int,
        context: Context,
        cluster: ClusterParts,
        connection: Connection,
    ) -> Answer:
        """A request for the controller, whichever broker that is."""
        # One that cannot be decoded ends the client's connection, not one between brokers.
        message = decode_here(handler.request, memoryview(frame), context.version, at)
        if message is not None:
            return await self._forward(handler, message, frame, context, cluster)
        message, items, pieces = await self._decode(
            handler, memoryview(frame), at, context, connection
        )
        try:
            return await self._forward(handler, message, frame, context, cluster)
        finally:
            self._release(items, pieces)

    async def _forward(
        self,
        handler: Handler,
        message: Message,
        frame: bytes,
        context: Context,
        cluster: ClusterParts,
    ) -> Answer:
        from ottla.handlers.forwarding.answering import answer_message

        peer = context.peer
        client = ForwardedClient(peer.principal, peer.host, context.client_id)
        request = ForwardedRequest(frame, client, context.parts.broker_id)
        spend_time(context)
        try:
            answer = await cluster.relay.forward(
                request, partial(answer_message, handler, message, context)
            )
        except Exception as error:
            return await refuse_large(handler, message, context, error)
        if context.began_s is not None:
            begin_time(context)  # until now it has waited
        charge_time(context)
        context.throttle(answer.throttle_ms)
        return Answer([answer.frame], context.throttle_ms)

    async def _decode_and_begin(
        self,
        handler: Handler,
        frame: memoryview,
        at: int,
        context: Context,
        connection: Connection,
    ) -> Served:
        request, items, pieces = await self._decode(handler, frame, at, context, connection)
        if context.began_s is not None:
            begin_time(context)  # until now it has waited, or was decoded in a thread
        try:
            served = self._begin(handler, request, context)
            del frame, request  # freed by their last user
            while isinstance(served, TakingEffect):
                served = await served.answer
            return served
        finally:
            self._release(items, pieces)

    def _release(self, items: int, pieces: Pieces) -> None:
        """A decoded request has taken effect."""
        self._decoding.release(items)
        self._parts.disposal.take(pieces)

    async def _decode(
        self,
        handler: Handler,
        frame: memoryview,
        at: int,
        context: Context,
        connection: Connection,
    ) -> DecodedRequest:
        context.is_large = context.has_many_items = True
        address = network_of(context.peer.host)
        return await self._decoding.decode(
            handler.request, frame, context.version, at, connection, address
        )

    def _begin(self, handler: Handler, request: Message, context: Context) -> Served:
        try:
            outcome: Any = handler.function(request, context)
            if type(outcome) is GeneratorType:
                work, is_done = self._parts.scheduler.begin(outcome)
                if not is_done:
                    return self._continue_in_slices(handler, request, context, work)
                check_built(work, work.grown, self._large.bytes_max)
                outcome = work.result
        except MalformedMessage:
            raise  # the connection is closed
        except Exception as error:
            if context.is_large:
                return TakingEffect(refuse_large(handler, request, context, storable(error)))
            outcome = refuse(handler, request, context, error)
        if isinstance(outcome, Message) and not context.is_large:
            return encode_answer(outcome, context)  # nearly all
        return to_served(handler, request, context, outcome)

    def _continue_in_slices(
        self, handler: Handler, request: Message, context: Context, work: Work[Outcome]
    ) -> TakingEffect:
        context.is_large = True
        spend_time(context)
        building = self._build(handler, request, context, work)
        return TakingEffect(building if context.began_s is None else Timed(building, context))

    async def _build(
        self, handler: Handler, request: Message, context: Context, work: Work[Outcome]
    ) -> Served:
        """The rest of a handler that has begun, in slices."""
        try:
            outcome = await self._large.finish(work, context)
        except MalformedMessage:
            close_account(context)
            raise
        except Exception as error:
            return await answer_and_close_account(
                context, refuse_large(handler, request, context, error)
            )
        except BaseException:
            close_account(context)  # the client has disconnected
            raise
        if isinstance(outcome, Message) or outcome is None:
            return await answer_and_close_account(
                context, encode_large(handler, request, context, outcome)
            )
        if context.account is not None:
            context.account.pause()
        return to_served(handler, request, context, outcome)


def to_served(handler: Handler, request: Message, context: Context, outcome: Outcome) -> Served:
    """Pass the outcome of a handler to the network."""
    if isinstance(outcome, Message) or outcome is None:
        if context.is_large:
            return TakingEffect(encode_large(handler, request, context, outcome))
        return encode_answer(outcome, context)
    spend_time(context)
    if isinstance(outcome, PendingResponse) and not context.is_large:
        return AwaitingAnswer(encoded_later(handler, request, context, outcome))
    if isinstance(outcome, registry.Deferred):
        return TakingEffect(finish(handler, request, context, outcome.answer))
    finishing = finish(handler, request, context, outcome)
    # Only a `Deferred` leads to another `AwaitingAnswer`.
    return (
        TakingEffect(finishing)
        if handler.is_deferred
        else AwaitingAnswer(cast(Awaitable[Answer], finishing))
    )


def encoded_later(
    handler: Handler, request: Message, context: Context, response: PendingResponse
) -> EncodedLater:
    return EncodedLater(response, partial(encode_response_or_error, handler, request, context))


def encode_response_or_error(
    handler: Handler,
    request: Message,
    context: Context,
    response: Message | None,
    error: Exception | None,
) -> Answer:
    if context.began_s is not None:
        begin_time(context)  # until now it has waited
    if error is not None:
        response = refuse(handler, request, context, error)
    return encode_answer(response, context)


async def finish(
    handler: Handler,
    request: Message,
    context: Context,
    outcome: Awaitable[Message | PendingResponse | None],
) -> Answer | AwaitingAnswer:
    """The response of an awaitable outcome, which may become large meanwhile."""
    try:
        response = await (outcome if context.began_s is None else Timed(outcome, context))
        if isinstance(response, PendingResponse):
            if not context.is_large:
                return AwaitingAnswer(encoded_later(handler, request, context, response))
            response = await response
    except MalformedMessage:
        close_account(context)
        raise
    except Exception as error:
        if context.is_large:
            return await answer_and_close_account(
                context, refuse_large(handler, request, context, error)
            )
        response = refuse(handler, request, context, error)
    except BaseException:
        close_account(context)  # the client has disconnected
        raise
    if context.is_large:
        return await answer_and_close_account(
            context, encode_large(handler, request, context, response)
        )
    return encode_answer(response, context)


def refuse_version(key: ApiKey, version: int, correlation_id: int) -> Answer:
    """For ApiVersions, by which clients learn the range: a response in version 0."""
    if key != ApiKey.API_VERSIONS:
        raise MalformedMessage(f"{key.name} version {version} is not served")
    from ottla.handlers.api_versions import announced_range

    response = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[announced_range(key)]
    )
    return Answer(encode_response(key, 0, correlation_id, response))
