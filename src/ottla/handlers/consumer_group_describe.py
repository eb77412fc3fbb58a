"""ConsumerGroupDescribe (key 69), versions 0 and 1: consumer groups, their epochs and members.

v1 whether a member speaks the classic protocol
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.context import Context
from ottla.handlers.permissions import GROUP_OPERATIONS
from ottla.handlers.registry import handles
from ottla.handlers.waiting import attempt, combine
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
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


@handles(ApiKey.CONSUMER_GROUP_DESCRIBE, versions=range(2), refuse=refuse_describe)
def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: Context
) -> ConsumerGroupDescribeResponse | Awaitable[ConsumerGroupDescribeResponse]:
    answers = [describe_one(group_id, context) for group_id in request.group_ids]

    def finish(groups: list[DescribedGroup]) -> ConsumerGroupDescribeResponse:
        for group in groups:
            if request.include_authorized_operations and not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS
        return ConsumerGroupDescribeResponse(groups=groups)

    return combine(answers, finish)


def describe_one(group_id: str, context: Context) -> DescribedGroup | Awaitable[DescribedGroup]:
    return attempt(
        lambda: context.parts.groups.describe_consumers(group_id),
        lambda error: DescribedGroup(error.code, error.message or None, group_id),
    )
