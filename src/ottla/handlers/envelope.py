"""Envelope (key 58), version 0, between brokers: a request of a client for the controller."""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.forwarding.answering import answer_forwarded
from ottla.handlers.forwarding.relay import ForwardedRequest
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.envelope_request import EnvelopeRequest
from ottla.protocol.messages.envelope_response import EnvelopeResponse


@handles(ApiKey.ENVELOPE)
def envelope(request: EnvelopeRequest, context: Context) -> Awaitable[EnvelopeResponse]:
    return answer_envelope(request, context)


async def answer_envelope(request: EnvelopeRequest, context: Context) -> EnvelopeResponse:
    forwarded = ForwardedRequest.from_envelope(request)
    answer = await answer_forwarded(context.parts, forwarded, context.peer.listener)
    return EnvelopeResponse(answer.encode())
