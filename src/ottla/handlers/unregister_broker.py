"""UnregisterBroker (key 64), version 0: removes a broker for good.

Kafka removes running brokers too, which then serve nothing until they are restarted. Here a broker
refuses to remove itself.
"""

from __future__ import annotations

from ottla.controller.brokers import decide_unregister_broker
from ottla.handlers.administration.deciding import decide
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest
from ottla.protocol.messages.unregister_broker_response import UnregisterBrokerResponse


@handles(ApiKey.UNREGISTER_BROKER)
async def unregister_broker(
    request: UnregisterBrokerRequest, context: Context
) -> UnregisterBrokerResponse:
    if request.broker_id == context.parts.broker_id:
        what = f"Broker {request.broker_id} is this one, and runs"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)
    await decide(
        context, lambda state: decide_unregister_broker(state, request.broker_id), is_large=True
    )
    return UnregisterBrokerResponse()
