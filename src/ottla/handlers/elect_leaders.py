"""ElectLeaders (key 43), versions 0 to 2.

v1 unclean elections · v2 flexible encoding
"""

from __future__ import annotations

from ottla.controller.elect_leaders import decide_elect_leaders
from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.elect_leaders_response import ElectLeadersResponse


@handles(ApiKey.ELECT_LEADERS, versions=range(0, 3))
async def elect_leaders(request: ElectLeadersRequest, context: Context) -> ElectLeadersResponse:
    return await context.parts.controller.decide(lambda state: decide_elect_leaders(state, request))
