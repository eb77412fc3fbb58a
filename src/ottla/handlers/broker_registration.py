"""BrokerRegistration (key 62), versions 0 to 4, between brokers.

Registration of a broker that starts.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.forwarding.broker_requests import answer_broker
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest


@handles(ApiKey.BROKER_REGISTRATION)
def broker_registration(request: BrokerRegistrationRequest, context: Context) -> Awaitable[Message]:
    return answer_broker(request, context)
