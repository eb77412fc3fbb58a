"""DeleteTopics (key 20), versions 1 to 6.

v3 TOPIC_DELETION_DISABLED · v4 flexible encoding · v5 messages, quota on changes · v6 by id
"""

from __future__ import annotations

from ottla.controller.delete_topics import decide_delete_topics
from ottla.handlers.administration.deciding import decide
from ottla.handlers.quotas.mutations import charging
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)

STRICT_QUOTA_FROM = 5  # older clients are throttled instead


def refuse_delete_topics(
    request: DeleteTopicsRequest, code: ErrorCode, message: str
) -> DeleteTopicsResponse:
    named = [
        DeletableTopicResult(name, error_code=code, error_message=message or None)
        for name in request.topic_names
    ]
    given = [
        DeletableTopicResult(topic.name, topic.topic_id, code, message or None)
        for topic in request.topics
    ]
    return DeleteTopicsResponse(responses=[*named, *given])


@handles(ApiKey.DELETE_TOPICS, refuse=refuse_delete_topics)
async def delete_topics(request: DeleteTopicsRequest, context: Context) -> DeleteTopicsResponse:
    charge = charging(context, STRICT_QUOTA_FROM)
    answer = await decide(
        context, lambda state: decide_delete_topics(state, request, context.version, charge=charge)
    )
    await context.parts.replicas.deleted()
    return answer
