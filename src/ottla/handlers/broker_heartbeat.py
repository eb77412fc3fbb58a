"""BrokerHeartbeat (key 63), versions 0 to 2, between brokers.

A broker is ready, requests to stop, or has lost a directory.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.forwarding.broker_requests import answer_broker
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest


@handles(ApiKey.BROKER_HEARTBEAT)
def broker_heartbeat(request: BrokerHeartbeatRequest, context: Context) -> Awaitable[Message]:
    return answer_broker(request, context)
