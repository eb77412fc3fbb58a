"""ConsumerGroupHeartbeat (key 68), versions 0 and 1: membership of a consumer group (KIP-848).

v1 subscription by pattern, member ids made by the client
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.groups.callers import caller_of
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.consumer_group_heartbeat_response import (
    ConsumerGroupHeartbeatResponse,
)


@handles(ApiKey.CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat(
    request: ConsumerGroupHeartbeatRequest, context: Context
) -> ConsumerGroupHeartbeatResponse | Awaitable[ConsumerGroupHeartbeatResponse]:
    return context.parts.groups.consumer_heartbeat(request, caller_of(context))
