"""Forwarded requests at the controller: the answer is the frame that the client gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ottla.handlers.forwarding.relay import FORWARDED, ForwardedAnswer, ForwardedRequest
from ottla.handlers.serving.context import Context, Peer
from ottla.handlers.serving.decoding import decode_large
from ottla.handlers.serving.dispatch import find_handler
from ottla.handlers.serving.registry import Handler
from ottla.handlers.serving.response_encoding import encode_answer, encode_large, refusal
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, MalformedMessage
from ottla.protocol.headers import decode_request_header
from ottla.protocol.message import Message

if TYPE_CHECKING:
    from ottla.handlers.serving.parts import Parts

SMALL_FRAME_BYTES = 4 * 1024


async def answer_forwarded(
    parts: Parts, request: ForwardedRequest, listener: str
) -> ForwardedAnswer:
    """BrokerError NOT_CONTROLLER if this broker is not the controller, or has just resigned."""
    sent = memoryview(request.frame)
    key, version, correlation_id, client_id, at = decode_request_header(sent)
    handler = find_handler(key, version) if key in FORWARDED else None
    if handler is None:
        raise MalformedMessage(f"{key.name} version {version} is not forwarded")
    client = request.client
    peer = Peer(listener, client.host, 0, client.principal, received_by=request.received_by)
    context = Context(parts, peer, key, version, correlation_id, client_id, len(sent))
    if len(sent) <= SMALL_FRAME_BYTES:
        message: Message = handler.request.decode_prefix(sent, version, at)[0]
    else:
        context.is_large = context.has_many_items = True
        decoded = await parts.scheduler.in_thread(
            lambda: decode_large(handler.request, sent, version, at)
        )
        message = decoded.request
    return await answer_message(handler, message, context)


async def answer_message(handler: Handler, message: Message, context: Context) -> ForwardedAnswer:
    """As `answer_forwarded`, for a request that was decoded."""
    try:
        response: Message = await handler.function(message, context)  # type: ignore[misc]
    except BrokerError as error:
        if error.code == ErrorCode.NOT_CONTROLLER:
            raise
        response = refusal(handler, message, context, error)
    except Exception as error:
        response = refusal(handler, message, context, error)
    if context.is_large:
        answer = await encode_large(handler, message, context, response)
    else:
        answer = encode_answer(response, context)
    frame = b"".join(cast("list[bytes]", answer.segments))  # none is a range of a file
    return ForwardedAnswer(frame, context.parts.metadata.offset, context.throttle_ms)
