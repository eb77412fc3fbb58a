"""UnregisterBroker (key 64), version 0: removes a broker permanently.

Kafka removes running brokers too, which then serve nothing until they are restarted. Here a broker
that runs is not removed.
"""

from __future__ import annotations

from ottla.controller.brokers import decide_unregister_broker
from ottla.controller.decision import Decision
from ottla.controller.state import ControllerState
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
    await decide(
        context, lambda state: decide_unregister_stopped(state, request.broker_id), is_large=True
    )
    return UnregisterBrokerResponse()


def decide_unregister_stopped(state: ControllerState, broker_id: int) -> Decision[None]:
    broker = state.image.broker(broker_id)
    if broker is not None and not broker.is_fenced:
        what = f"Broker {broker_id} is running: stop it before it is removed"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)
    return decide_unregister_broker(state, broker_id)
