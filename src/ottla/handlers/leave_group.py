"""LeaveGroup (key 13), versions 0 to 5: members of a classic group leave.

v1 throttle time · v3 several members at once, by instance id too · v4 flexible encoding · v5 reason
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.coordinators.groups.service import LEAVING_MAX
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.leave_group_response import LeaveGroupResponse, MemberResponse

SEVERAL_FROM = 3


def refuse_leave(request: LeaveGroupRequest, code: ErrorCode, _message: str) -> LeaveGroupResponse:
    """If the group is unknown, a batch gets an error for each member."""
    if code == ErrorCode.UNKNOWN_MEMBER_ID and request.members:
        return LeaveGroupResponse(
            members=[
                MemberResponse(each.member_id, each.group_instance_id, code)
                for each in request.members
            ]
        )
    return LeaveGroupResponse(error_code=code)


@handles(ApiKey.LEAVE_GROUP, refuse=refuse_leave)
def leave_group(
    request: LeaveGroupRequest, context: Context
) -> LeaveGroupResponse | Awaitable[LeaveGroupResponse] | Deferred:
    groups = context.parts.groups
    if context.version >= SEVERAL_FROM:
        if len(request.members) > LEAVING_MAX:
            return Deferred(groups.leave_together(request))
        return groups.leave(request)
    one = LeaveGroupRequest(request.group_id, members=[MemberIdentity(request.member_id)])
    outcome = groups.leave(one)
    return single(outcome) if isinstance(outcome, LeaveGroupResponse) else single_later(outcome)


async def single_later(outcome: Awaitable[LeaveGroupResponse]) -> LeaveGroupResponse:
    return single(await outcome)


def single(response: LeaveGroupResponse) -> LeaveGroupResponse:
    """Older versions have one member, whose error is that of the request."""
    return LeaveGroupResponse(error_code=response.members[0].error_code)
