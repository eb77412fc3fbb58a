"""DeleteGroups (key 42), versions 0 to 2: delete groups without members, and their offsets.

v1 throttle time · v2 flexible encoding
"""

from __future__ import annotations

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.shard import LoadedShard
from ottla.handlers.groups.answers import read_groups
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
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


@handles(ApiKey.DELETE_GROUPS, refuse=refuse_delete)
def delete_groups(
    request: DeleteGroupsRequest, context: Context
) -> DeleteGroupsResponse | Deferred:
    return Deferred(delete_all(request, context))


async def delete_all(request: DeleteGroupsRequest, context: Context) -> DeleteGroupsResponse:
    """Completed even if the client disconnects: offsets of a group are deleted together."""

    def delete(group_id: str, shard: LoadedShard) -> Steps[DeletableGroupResult]:
        yield from context.parts.groups.delete_group(shard, group_id)
        return DeletableGroupResult(group_id)

    deleting = read_groups(request.groups_names, context, delete, refused, repeats=False)
    answers = await context.parts.scheduler.run(deleting)
    results = answers if isinstance(answers, list) else await answers
    return DeleteGroupsResponse(results=results)


def refused(group_id: str, error: BrokerError) -> DeletableGroupResult:
    return DeletableGroupResult(group_id, error.code)
