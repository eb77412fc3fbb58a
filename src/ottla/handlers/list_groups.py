"""ListGroups (key 16), versions 0 to 5: the groups that this broker coordinates.

v1 throttle time · v3 flexible encoding · v4 by state, states in the response · v5 by type
"""

from __future__ import annotations

from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.list_groups_response import ListGroupsResponse


@handles(ApiKey.LIST_GROUPS)
def list_groups(request: ListGroupsRequest, context: Context) -> Steps[ListGroupsResponse]:
    return (yield from context.parts.groups.list_groups(request))
