"""DescribeGroups (key 15), versions 0 to 6: classic groups, their state and members.

v1 throttle time · v3 permitted operations · v4 instance ids · v5 flexible encoding ·
v6 GROUP_ID_NOT_FOUND; before, an unknown group is in state Dead
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.shard import LoadedShard
from ottla.handlers.administration.permissions import GROUP_OPERATIONS
from ottla.handlers.groups.answers import read_groups, respond
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.describe_groups_response import (
    DescribedGroup,
    DescribeGroupsResponse,
)

OPERATIONS_FROM = 3


def refuse_describe(
    request: DescribeGroupsRequest, code: ErrorCode, _message: str
) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[DescribedGroup(error_code=code, group_id=each) for each in request.groups]
    )


@handles(ApiKey.DESCRIBE_GROUPS, refuse=refuse_describe)
def describe_groups(
    request: DescribeGroupsRequest, context: Context
) -> Steps[DescribeGroupsResponse | Awaitable[DescribeGroupsResponse]]:
    with_operations = request.include_authorized_operations and context.version >= OPERATIONS_FROM

    def read(group_id: str, shard: LoadedShard) -> Steps[DescribedGroup]:
        group = yield from context.parts.groups.describe(shard, group_id, context.version)
        if with_operations and not group.error_code:
            group.authorized_operations = GROUP_OPERATIONS
        return group

    answers = yield from read_groups(request.groups, context, read, refused)
    return respond(answers, lambda groups: DescribeGroupsResponse(groups=groups))


def refused(group_id: str, error: BrokerError) -> DescribedGroup:
    return DescribedGroup(error_code=error.code, group_id=group_id)
