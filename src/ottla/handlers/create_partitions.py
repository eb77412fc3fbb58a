"""CreatePartitions (key 37), versions 0 to 3.

v2 flexible encoding · v3 quota on changes
"""

from __future__ import annotations

from ottla.controller.create_partitions import decide_create_partitions
from ottla.handlers.administration.deciding import decide
from ottla.handlers.partitions.missing_logs import finding_missing, report_missing
from ottla.handlers.quotas.mutations import charging
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_partitions_request import CreatePartitionsRequest
from ottla.protocol.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

STRICT_QUOTA_FROM = 3  # older clients are throttled instead
PARTITIONS_AT_ONCE = 500  # decided in a few milliseconds


def refuse_create_partitions(
    request: CreatePartitionsRequest, code: ErrorCode, message: str
) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(topic.name, code, message or None)
            for topic in request.topics
        ]
    )


@handles(ApiKey.CREATE_PARTITIONS, refuse=refuse_create_partitions)
async def create_partitions(
    request: CreatePartitionsRequest, context: Context
) -> CreatePartitionsResponse:
    charge = charging(context, STRICT_QUOTA_FROM)
    replicas = context.parts.replicas
    run, before = context.parts.scheduler.run, dict[str, set[int]]()
    if not replicas.all_have_logs:
        names = (topic.name for topic in request.topics)
        before = await run(finding_missing(names, replicas.without_log))
    answer = await decide(
        context,
        lambda state: decide_create_partitions(state, request, charge=charge),
        is_large=context.is_large or is_large(request),
    )
    await replicas.made(topic.name for topic in request.topics)
    if not replicas.all_have_logs:
        await run(
            report_missing(
                answer.results, lambda topic: replicas.without_log(topic) - before.get(topic, set())
            )
        )
    return answer


def is_large(request: CreatePartitionsRequest) -> bool:
    """Whether the decision takes too long for the event loop."""
    return sum(topic.count for topic in request.topics) > PARTITIONS_AT_ONCE
