"""Requests of which only a part is for the controller: the broker serves the rest itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ottla.handlers.forwarding.relay import ForwardedAnswer, ForwardedClient, ForwardedRequest
from ottla.handlers.serving.context import Context
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class

R = TypeVar("R", bound=Message)
SIZE_BYTES = 4  # of a frame, before it


async def at_controller(
    part: Message, context: Context, here: Callable[[], Awaitable[R]], response: type[R]
) -> R:
    """The response to this part: of `here` if this broker is the controller."""
    cluster = context.parts.cluster
    if cluster is None or context.peer.received_by is not None:
        return await here()  # for another broker, which repeats it after NOT_CONTROLLER
    key, version, peer = context.key, context.version, context.peer
    assert response is response_class(key)
    segments = encode_request(key, version, context.correlation_id, context.client_id, part)
    client = ForwardedClient(peer.principal, peer.host, context.client_id)
    frame = b"".join(segments)[SIZE_BYTES:]
    forwarded = ForwardedRequest(frame, client, context.parts.broker_id)
    answer = await cluster.relay.forward(forwarded, here)
    if not isinstance(answer, ForwardedAnswer):
        return answer
    context.throttle(answer.throttle_ms)
    body = memoryview(answer.frame)[SIZE_BYTES:]
    _, at = decode_response_header(key, version, body)
    return response.decode(body, version, at)
