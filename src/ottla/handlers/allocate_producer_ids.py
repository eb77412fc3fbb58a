"""AllocateProducerIds (key 67), version 0, between brokers.

A block of producer ids for a broker.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.forwarding.broker_requests import answer_broker
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest


@handles(ApiKey.ALLOCATE_PRODUCER_IDS)
def allocate_producer_ids(
    request: AllocateProducerIdsRequest, context: Context
) -> Awaitable[Message]:
    return answer_broker(request, context)
