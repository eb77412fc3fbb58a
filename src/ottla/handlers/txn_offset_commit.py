"""TxnOffsetCommit (key 28), versions 0 to 5: offsets committed with a transaction.

v2 leader epoch · v3 flexible encoding, the member and its generation (KIP-447) · v4
TRANSACTION_ABORTABLE · v5 adds the group implicitly (KIP-890)
The group coordinator leads the partition that is written to, so it first verifies the transaction
with the transaction coordinator, as every leader does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from inspect import isawaitable

from ottla.base.fault_points import FaultPoint, reach
from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.runtime import BY_COORDINATOR
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.coordinators.transactions.verifying import offset_commit_support
from ottla.handlers.groups.known_partitions import is_small, splitting
from ottla.handlers.groups.merging import merging
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ottla.protocol.records.batch import NO_SEQUENCE
from ottla.storage.log.append import ProducedBy
from ottla.storage.producers.transaction_verification import NO_GUARD

LOADING_ERROR_FROM = 2

# Errors of requests to the transaction coordinator, as errors of a group coordinator.
GROUP_ERRORS = {
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
}


def refuse_commit(
    request: TxnOffsetCommitRequest, code: ErrorCode, _message: str
) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(topics=[refused(topic, code) for topic in request.topics])


@handles(ApiKey.TXN_OFFSET_COMMIT, refuse=refuse_commit)
def txn_offset_commit(
    request: TxnOffsetCommitRequest, context: Context
) -> Steps[TxnOffsetCommitResponse | Deferred]:
    topic_ids: dict[str, TopicId] = {}
    known, unknown = yield from splitting(
        request.topics,
        context.parts.metadata,
        TxnOffsetCommitRequestTopic,
        TxnOffsetCommitResponseTopic,
        TxnOffsetCommitResponsePartition,
        topic_ids,
    )
    if not known:
        return TxnOffsetCommitResponse(topics=(yield from merging(unknown, ())))
    request.topics = known
    return Deferred(commit_known(request, topic_ids, unknown, context))


async def commit_known(
    request: TxnOffsetCommitRequest,
    topic_ids: Mapping[str, TopicId],
    unknown: Sequence[TxnOffsetCommitResponseTopic],
    context: Context,
) -> TxnOffsetCommitResponse:
    try:
        response = await commit(request, topic_ids, context)
    except BrokerError as error:
        code = as_group_error(error.code, context.version)
        if is_small(request.topics):
            response = refuse_commit(request, code, "")
        else:
            refuse = partial(refuse_commit, request, code, "")
            response = await context.parts.scheduler.in_thread(refuse)
    if unknown:
        response.topics = await context.parts.scheduler.run(merging(unknown, response.topics))
    return response


async def commit(
    request: TxnOffsetCommitRequest, topic_ids: Mapping[str, TopicId], context: Context
) -> TxnOffsetCommitResponse:
    groups = context.parts.groups
    by = await verify(request, context)
    if not is_small(request.topics):
        response = await groups.offsets.commit_many_transactional(
            request, context.version, topic_ids, by
        )
        reach(FaultPoint.OFFSETS_APPENDED)
        return response
    image = context.parts.metadata
    for each in request.topics:
        topic = image.topic(each.name)
        if topic is None or topic.id != topic_ids[each.name]:
            # Deleted meanwhile, and perhaps created again: a new topic must not get the offsets.
            # The client retries; the response lists the topics that do not exist.
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    outcome = groups.offsets.commit_transactional(request, context.version, by)
    reach(FaultPoint.OFFSETS_APPENDED)
    return await outcome if isawaitable(outcome) else outcome


async def verify(request: TxnOffsetCommitRequest, context: Context) -> ProducedBy:
    """Verify the transaction with its coordinator; returns the guard of the append."""
    verifier, support = context.parts.verifier, offset_commit_support(context.version)
    if not request.group_id:
        raise BrokerError(ErrorCode.INVALID_GROUP_ID)
    if not verifier.is_needed(support):
        return BY_COORDINATOR
    name = context.parts.groups.topic.partition_of(request.group_id)
    partition = context.parts.replicas.partition(*name)
    producer = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
    guard = verifier.guard(partition, producer, NO_SEQUENCE, support)
    if guard != NO_GUARD:
        refused_by = await verifier.ask(request.transactional_id, producer, [name], support)
        if name in refused_by:
            raise BrokerError(refused_by[name])
    return BY_COORDINATOR._replace(guard=guard)


def as_group_error(code: ErrorCode, version: int) -> ErrorCode:
    code = GROUP_ERRORS.get(code, code)
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < LOADING_ERROR_FROM:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE  # the oldest clients fail on the other
    return code


def refused(topic: TxnOffsetCommitRequestTopic, code: ErrorCode) -> TxnOffsetCommitResponseTopic:
    answers = [
        TxnOffsetCommitResponsePartition(each.partition_index, code) for each in topic.partitions
    ]
    return TxnOffsetCommitResponseTopic(topic.name, answers)
