"""JoinGroup (key 11), versions 0 to 9: become a member of a classic group.

v1 rebalance timeout · v4 MEMBER_ID_REQUIRED · v5 static members · v6 flexible encoding ·
v7 protocol type in the response, a null protocol · v8 reason · v9 a leader may skip the assignment
The response is sent when all members have joined.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.groups.callers import caller_of
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.join_group_request import JoinGroupRequest
from ottla.protocol.messages.join_group_response import JoinGroupResponse

NULL_PROTOCOL_FROM = 7
# As in Kafka, whose groups are asked about members only where they are.
WITHOUT_MEMBER_ID = {
    ErrorCode.GROUP_MAX_SIZE_REACHED,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
}


def refuse_join(
    request: JoinGroupRequest, code: ErrorCode, _message: str, version: int
) -> JoinGroupResponse:
    member_id = "" if code in WITHOUT_MEMBER_ID else request.member_id
    return fitted(JoinGroupResponse(error_code=code, member_id=member_id), version)


@handles(ApiKey.JOIN_GROUP, refuse_in_version=refuse_join)
def join_group(
    request: JoinGroupRequest, context: Context
) -> JoinGroupResponse | Awaitable[JoinGroupResponse]:
    outcome = context.parts.groups.join(request, caller_of(context))
    if isinstance(outcome, JoinGroupResponse):
        return fitted(outcome, context.version)
    return fitted_later(outcome, context.version)


async def fitted_later(outcome: Awaitable[JoinGroupResponse], version: int) -> JoinGroupResponse:
    return fitted(await outcome, version)


def fitted(response: JoinGroupResponse, version: int) -> JoinGroupResponse:
    """Null if no protocol was chosen; an empty string in versions without null."""
    if version >= NULL_PROTOCOL_FROM and response.error_code:
        response.protocol_name = None
    elif version < NULL_PROTOCOL_FROM and response.protocol_name is None:
        response.protocol_name = ""
    return response
