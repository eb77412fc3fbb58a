"""DeleteGroups (key 42), versions 0 to 2: forget groups that have no members, with their offsets.

v1 throttle time · v2 flexible encoding
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.handlers.waiting import attempt, combine
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.delete_groups_response import (
    DeletableGroupResult,
    DeleteGroupsResponse,
)


def refuse_delete(
    request: DeleteGroupsRequest, code: ErrorCode, _message: str
) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[DeletableGroupResult(each, code) for each in request.groups_names]
    )


@handles(ApiKey.DELETE_GROUPS, versions=range(3), refuse=refuse_delete)
def delete_groups(
    request: DeleteGroupsRequest, context: Context
) -> DeleteGroupsResponse | Awaitable[DeleteGroupsResponse]:
    wanted = dict.fromkeys(request.groups_names)  # each once
    answers = [delete_one(group_id, context) for group_id in wanted]
    return combine(answers, lambda results: DeleteGroupsResponse(results=results))


def delete_one(
    group_id: str, context: Context
) -> DeletableGroupResult | Awaitable[DeletableGroupResult]:
    return attempt(
        lambda: context.parts.groups.delete_group(group_id),
        lambda error: DeletableGroupResult(group_id, error.code),
    )
