"""Requests of other brokers to the controller in this process."""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.protocol.message import Message


async def answer_broker(request: Message, context: Context) -> Message:
    """BrokerError NOT_CONTROLLER if this broker is not the controller."""
    cluster = context.parts.cluster
    assert cluster is not None, "served in a cluster only"
    return await cluster.broker_requests.answer(request, context.version)
