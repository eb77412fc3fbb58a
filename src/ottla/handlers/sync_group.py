"""SyncGroup (key 14), versions 0 to 5: distributes the assignment that the group's leader sends.

v1 throttle time · v3 static members · v4 flexible encoding · v5 protocol type and name
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.sync_group_request import SyncGroupRequest
from ottla.protocol.messages.sync_group_response import SyncGroupResponse

PROTOCOL_FROM = 5


@handles(ApiKey.SYNC_GROUP)
def sync_group(
    request: SyncGroupRequest, context: Context
) -> Steps[SyncGroupResponse | Awaitable[SyncGroupResponse]]:
    is_named = request.protocol_type is not None and request.protocol_name is not None
    if context.version >= PROTOCOL_FROM and not is_named:
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    groups = context.parts.groups
    members = groups.member_ids(request.group_id)
    assignments = {}  # by member; the last one of each is used
    for each in request.assignments:
        if each.member_id in members:
            assignments[each.member_id] = each
        yield 0
    request.assignments = list(assignments.values())
    return groups.sync(request)
