"""CreateTopics (key 19), versions 2 to 7.

v4 -1 means the broker's defaults · v5 flexible encoding, settings in the response · v6 quota on
changes · v7 topic ids
"""

from __future__ import annotations

from ottla.controller.create_topics import decide_create_topics
from ottla.handlers.administration.deciding import decide
from ottla.handlers.partitions.missing_logs import report_missing
from ottla.handlers.quotas.mutations import charging
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_topics_request import CreateTopicsRequest
from ottla.protocol.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)

STRICT_QUOTA_FROM = 6  # older clients are throttled instead
PARTITIONS_AT_ONCE = 500  # decided in a few milliseconds


def refuse_create_topics(
    request: CreateTopicsRequest, code: ErrorCode, message: str
) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(topic.name, error_code=code, error_message=message or None)
            for topic in request.topics
        ]
    )


@handles(ApiKey.CREATE_TOPICS, refuse=refuse_create_topics)
async def create_topics(request: CreateTopicsRequest, context: Context) -> CreateTopicsResponse:
    charge = charging(context, STRICT_QUOTA_FROM)
    answer = await decide(
        context,
        lambda state: decide_create_topics(state, request, charge=charge),
        is_large=context.is_large or is_large(request),
    )
    replicas = context.parts.replicas
    await replicas.made(topic.name for topic in request.topics)
    if not replicas.all_have_logs:
        await context.parts.scheduler.run(report_missing(answer.topics, replicas.without_log))
    return answer


def is_large(request: CreateTopicsRequest) -> bool:
    """Whether the decision takes too long for the event loop."""
    wanted = sum(max(len(each.assignments), each.num_partitions) for each in request.topics)
    return wanted > PARTITIONS_AT_ONCE
