"""ConsumerGroupDescribe (key 69), versions 0 and 1: consumer groups, their epochs and members.

v1 whether a member uses the classic protocol
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
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.consumer_group_describe_response import (
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)


def refuse_describe(
    request: ConsumerGroupDescribeRequest, code: ErrorCode, message: str
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[DescribedGroup(code, message or None, each) for each in request.group_ids]
    )


@handles(ApiKey.CONSUMER_GROUP_DESCRIBE, refuse=refuse_describe)
def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: Context
) -> Steps[ConsumerGroupDescribeResponse | Awaitable[ConsumerGroupDescribeResponse]]:
    groups = context.parts.groups
    groups.check_enabled()

    def read(group_id: str, shard: LoadedShard) -> Steps[DescribedGroup]:
        group = yield from groups.describe_consumers(shard, group_id)
        if request.include_authorized_operations and not group.error_code:
            group.authorized_operations = GROUP_OPERATIONS
        return group

    answers = yield from read_groups(request.group_ids, context, read, refused)
    return respond(answers, lambda found: ConsumerGroupDescribeResponse(groups=found))


def refused(group_id: str, error: BrokerError) -> DescribedGroup:
    return DescribedGroup(error.code, error.message or None, group_id)
