"""Metadata (key 3), versions 0 to 13.

v0 an empty list asks for all topics, from v1 on null does · v1 racks, controller, internal · v2
cluster id · v4 no automatic creation if asked · v5 offline replicas · v7 leader epochs · v8
permitted operations · v9 flexible encoding · v10 topic ids · v11 no cluster operations · v12 asks
by id · v13 top-level error
A topic that does not exist is created if the client and the broker allow it.
"""

from __future__ import annotations

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.handlers.context import Context
from ottla.handlers.leaders import live_brokers
from ottla.handlers.permissions import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from ottla.handlers.quotas.mutations import charging_unasked
from ottla.handlers.registry import Working, handles
from ottla.metadata.topic_names import INTERNAL_TOPICS, fault_of_name
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)

TOPIC_IDS_FROM = 12


def refuse_metadata(request: MetadataRequest, code: ErrorCode, _message: str) -> MetadataResponse:
    return MetadataResponse(
        error_code=code,
        topics=[
            MetadataResponseTopic(code, topic.name or "", topic.topic_id)
            for topic in request.topics or ()
        ],
    )


@handles(ApiKey.METADATA, versions=range(0, 14), refuse=refuse_metadata)
def metadata(request: MetadataRequest, context: Context) -> MetadataResponse | Working:
    check_topics(request, context.version)
    missing = topics_to_create(request, context)
    if missing:
        return Working(create_and_answer(request, context, missing))
    return answer(request, context)


def check_topics(request: MetadataRequest, version: int) -> None:
    if version >= TOPIC_IDS_FROM:
        return
    for topic in request.topics or ():
        if topic.name is None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a topic without a name")
        if topic.topic_id != NO_TOPIC_ID:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a topic id in this version")


def asks_for_all(request: MetadataRequest, version: int) -> bool:
    return request.topics is None or (version == 0 and not request.topics)


def topics_to_create(request: MetadataRequest, context: Context) -> list[str]:
    """Named, not there, and both sides agree that asking for a topic may create it."""
    if not request.allow_auto_topic_creation or asks_for_all(request, context.version):
        return []
    if not context.parts.settings.config.auto_create_topics_enable:
        return []
    image = context.parts.metadata
    names = {topic.name: None for topic in request.topics or () if topic.topic_id == NO_TOPIC_ID}
    return [
        name
        for name in names
        if name is not None and image.topic(name) is None and fault_of_name(name) is None
    ]


async def create_and_answer(
    request: MetadataRequest, context: Context, names: list[str]
) -> MetadataResponse:
    errors = await context.parts.automatic_topics.create(names, charging_unasked(context))
    response = answer(request, context)
    for topic in response.topics:
        if topic.name in errors and topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            topic.error_code = errors[topic.name]
    return response


def answer(request: MetadataRequest, context: Context) -> MetadataResponse:
    image = context.parts.metadata
    operations = context.version >= 8 and request.include_topic_authorized_operations
    if asks_for_all(request, context.version):
        answers = context.parts.topic_answers
        topics = [answers.get(topic, operations) for topic in image.topics.values()]
    else:
        topics = named_topics(request, context, operations)
    asks_cluster = 8 <= context.version <= 10 and request.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=[MetadataResponseBroker(*each) for each in live_brokers(context)],
        cluster_id=image.cluster_id,
        controller_id=context.parts.controller_id,
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS if asks_cluster else NOT_ASKED,
    )


def named_topics(
    request: MetadataRequest, context: Context, operations: bool
) -> list[MetadataResponseTopic]:
    """Each topic once. Where ids are given, names are not looked at."""
    image, answers = context.parts.metadata, context.parts.topic_answers
    wanted = request.topics or ()
    ids = {TopicId(topic.topic_id): None for topic in wanted if topic.topic_id != NO_TOPIC_ID}
    if ids:
        return [
            MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)
            if (found := image.topic_by_id(topic_id)) is None
            else answers.get(found, operations)
            for topic_id in ids
        ]
    names = {topic.name or "": None for topic in wanted}
    return [
        missing_topic(name, operations)
        if (found := image.topic(name)) is None
        else answers.get(found, operations)
        for name in names
    ]


def missing_topic(name: str, operations: bool) -> MetadataResponseTopic:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if fault_of_name(name) is not None:
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
    return MetadataResponseTopic(
        code,
        name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS if operations else NOT_ASKED,
    )
