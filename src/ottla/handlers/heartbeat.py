"""Heartbeat (key 12), versions 0 to 4: keeps a member of a classic group alive.

v1 throttle time · v3 static members · v4 flexible encoding
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.heartbeat_response import HeartbeatResponse


@handles(ApiKey.HEARTBEAT)
def heartbeat(
    request: HeartbeatRequest, context: Context
) -> HeartbeatResponse | Awaitable[HeartbeatResponse]:
    return context.parts.groups.heartbeat(request)
