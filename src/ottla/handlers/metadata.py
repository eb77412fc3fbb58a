"""Metadata (key 3), versions 0 to 13.

v0 an empty list means all topics, from v1 on null does · v1 racks, controller, internal · v2
cluster id · v4 optional automatic creation · v5 offline replicas · v7 leader epochs · v8
permitted operations · v9 flexible encoding · v10 topic ids · v11 no cluster operations · v12 topics
by id · v13 top-level error
A topic that does not exist is created if the client and the broker allow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple, TypeVar

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.base.scheduling.steps import Steps
from ottla.handlers.administration.permissions import (
    CLUSTER_OPERATIONS,
    NOT_REQUESTED,
    TOPIC_OPERATIONS,
)
from ottla.handlers.partitions.leaders import live_brokers
from ottla.handlers.partitions.topic_answers import missing_topic_code
from ottla.handlers.quotas.mutations import creator_of
from ottla.handlers.serving.chunks import CHUNK_ITEMS, chunks
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.metadata.entities import Topic
from ottla.metadata.topic_names import INTERNAL_TOPICS, fault_of_name
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)

K = TypeVar("K")

TOPIC_IDS_FROM = 12
CREATED_MAX = 100  # topics that one request creates automatically
ENCODED_HERE = 500  # partitions; more are encoded in a thread
TOPIC_BYTES, PARTITION_BYTES = 32, 40  # estimates of their encoded size


def refuse_metadata(request: MetadataRequest, code: ErrorCode, _message: str) -> MetadataResponse:
    return MetadataResponse(
        error_code=code,
        topics=[
            MetadataResponseTopic(code, topic.name or "", topic.topic_id)
            for topic in request.topics or ()
        ],
    )


@handles(ApiKey.METADATA, refuse=refuse_metadata)
def metadata(
    request: MetadataRequest, context: Context
) -> MetadataResponse | Steps[MetadataResponse | Deferred]:
    known = known_topics(request, context)
    if known is not None:
        return respond(known, request, context)
    return finding_topics(request, context)


def finding_topics(
    request: MetadataRequest, context: Context
) -> Steps[MetadataResponse | Deferred]:
    requested = yield from requested_topics(request, context.version)
    missing = yield from topics_to_create(requested, request, context)
    if missing:
        return Deferred(create_and_answer(requested, request, context, missing))
    return (yield from answer(requested, request, context))


def known_topics(request: MetadataRequest, context: Context) -> list[MetadataResponseTopic] | None:
    """The common case: a few topics by name, all of them cached. Else None."""
    topics = request.topics
    if not topics or len(topics) > CHUNK_ITEMS:
        return None
    image, answers = context.parts.metadata, context.parts.topic_answers
    operations = wants_operations(request, context.version)
    reach = answers.reach(context.peer.listener, context.version)
    found: dict[str, MetadataResponseTopic] = {}
    for each in topics:
        topic = image.topic(each.name or "") if each.topic_id == NO_TOPIC_ID else None
        answer = None if topic is None else answers.find(topic.id, operations, reach)
        if topic is None or answer is None or not answers.is_encoded(answer, context.version):
            return None
        found[topic.name] = answer
    return list(found.values())


def wants_operations(request: MetadataRequest, version: int) -> bool:
    return version >= 8 and request.include_topic_authorized_operations


class RequestedTopics(NamedTuple):
    """The requested topics in order, without duplicates. If there are ids, names are ignored."""

    names: dict[str, None]
    ids: dict[TopicId, None]
    is_all: bool


def requested_topics(request: MetadataRequest, version: int) -> Steps[RequestedTopics]:
    requested = RequestedTopics({}, {}, is_for_all(request, version))
    for chunk in chunks(request.topics or ()):
        for topic in chunk:
            if version < TOPIC_IDS_FROM:
                check_topic(topic)
            if topic.topic_id != NO_TOPIC_ID:
                requested.ids[TopicId(topic.topic_id)] = None
            else:
                requested.names[topic.name or ""] = None
        yield 0
    return requested


def check_topic(topic: MetadataRequestTopic) -> None:
    if topic.name is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a topic without a name")
    if topic.topic_id != NO_TOPIC_ID:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a topic id in this version")


def is_for_all(request: MetadataRequest, version: int) -> bool:
    return request.topics is None or (version == 0 and not request.topics)


def topics_to_create(
    requested: RequestedTopics, request: MetadataRequest, context: Context
) -> Steps[list[str]]:
    """Requested names without a topic, if client and broker allow automatic creation.

    At most `CREATED_MAX`; the next request creates more.
    """
    if not request.allow_auto_topic_creation or requested.is_all:
        return []
    if not context.parts.config.broker.auto_create_topics_enable:
        return []
    missing: list[str] = []
    for chunk in chunks(requested.names):
        known = context.parts.metadata.topics
        missing += [name for name in chunk if name not in known and fault_of_name(name) is None]
        if len(missing) >= CREATED_MAX:
            break
        yield 0
    return missing[:CREATED_MAX]


async def create_and_answer(
    requested: RequestedTopics, request: MetadataRequest, context: Context, names: list[str]
) -> MetadataResponse:
    errors = await context.parts.automatic_topics.create(names, creator_of(context))
    answering = answer_after(requested, request, context, errors)
    return await context.parts.large_responses.build(answering, context)


def answer_after(
    requested: RequestedTopics,
    request: MetadataRequest,
    context: Context,
    errors: Mapping[str, ErrorCode],
) -> Steps[MetadataResponse]:
    """The response, with the errors of topics that could not be created."""
    response = yield from answer(requested, request, context)
    for topic in response.topics if errors else ():
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            topic.error_code = errors.get(topic.name or "", topic.error_code)
        yield 0
    return response


def answer(
    requested: RequestedTopics, request: MetadataRequest, context: Context
) -> Steps[MetadataResponse]:
    image = context.parts.metadata
    operations = wants_operations(request, context.version)
    if requested.ids:
        topics = yield from describing(
            requested.ids, image.topic_by_id, missing_id, context, operations
        )
    elif requested.is_all:
        names = list(image.topics)  # one that is deleted meanwhile is left out
        topics = yield from describing(names, image.topic, lambda _: None, context, operations)
    else:
        missing = partial(missing_topic, operations=operations)
        topics = yield from describing(requested.names, image.topic, missing, context, operations)
    return respond(topics, request, context)


def respond(
    topics: list[MetadataResponseTopic], request: MetadataRequest, context: Context
) -> MetadataResponse:
    has_cluster_operations = (
        8 <= context.version <= 10 and request.include_cluster_authorized_operations
    )
    return MetadataResponse(
        brokers=[MetadataResponseBroker(*each) for each in live_brokers(context)],
        cluster_id=context.parts.metadata.cluster_id,
        controller_id=context.parts.controller_id,
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS
        if has_cluster_operations
        else NOT_REQUESTED,
    )


def describing(
    keys: Iterable[K],
    find: Callable[[K], Topic | None],
    missing: Callable[[K], MetadataResponseTopic | None],
    context: Context,
    operations: bool,
) -> Steps[list[MetadataResponseTopic]]:
    """The topics of the keys; for a key without one, `missing`, unless that is None."""
    topics: list[MetadataResponseTopic] = []
    for chunk in chunks(keys):
        grown = 0
        for key in chunk:
            topic = find(key)
            answer = (
                missing(key)
                if topic is None
                else (yield from described(topic, context, operations))
            )
            if answer is not None:
                topics.append(answer)
                grown += TOPIC_BYTES + len(answer.name or "")
                grown += PARTITION_BYTES * len(answer.partitions)
        yield grown
    return topics


def described(topic: Topic, context: Context, operations: bool) -> Steps[MetadataResponseTopic]:
    answers = context.parts.topic_answers
    reach = answers.reach(context.peer.listener, context.version)
    answer = answers.find(topic.id, operations, reach)
    if answer is None:
        answer = yield from answers.describing(topic, operations, reach)
    if not answers.is_encoded(answer, context.version) and len(answer.partitions) > ENCODED_HERE:
        context.is_large = True
    return answer


def missing_id(topic_id: TopicId) -> MetadataResponseTopic:
    return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)


def missing_topic(name: str, operations: bool) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        missing_topic_code(name),
        name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS if operations else NOT_REQUESTED,
    )
