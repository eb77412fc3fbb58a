"""Produce (key 0), versions 3 to 13.

v3 transactional id · v4 storage errors · v5 log start offset · v7 zstd · v8 record errors ·
v9 flexible encoding · v10 leader hints · v11 TRANSACTION_ABORTABLE · v12 adds partitions to
transactions implicitly (KIP-890) · v13 topics by id
acks=0 has no response: an error closes the connection.
"""

from __future__ import annotations

from typing import cast

from ottla.base.scheduling.steps import Steps
from ottla.handlers.partitions.producer_loading import loading_producers
from ottla.handlers.producing.guards import (
    finding_transactional_batch,
    guarding,
    guards_of,
    has_transactional_batch,
)
from ottla.handlers.producing.operation import (
    ACKS,
    ACKS_NONE,
    TOPIC_IDS_FROM,
    AppendedProduce,
    Produced,
    ProduceOperation,
    until_appended,
)
from ottla.handlers.producing.partition_answers import failed
from ottla.handlers.producing.preparation import (
    Preparation,
    opens_batches,
    preparation,
    preparing,
)
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, MalformedMessage
from ottla.protocol.messages.produce_request import ProduceRequest
from ottla.protocol.messages.produce_response import ProduceResponse, TopicProduceResponse
from ottla.storage.log.log import Log

PARTITIONS_AT_ONCE = 100  # a request with more is served in slices
SMALL_REQUEST_BYTES = 5 * PARTITIONS_AT_ONCE  # with more partitions it has more: each has an index


def refuse_produce(request: ProduceRequest, code: ErrorCode, message: str) -> ProduceResponse:
    if request.acks == ACKS_NONE:  # the client would match a response with its next request
        raise MalformedMessage(f"a produce without acknowledgement was refused: {code.name}")
    return ProduceResponse(
        [
            TopicProduceResponse(
                topic.name,
                topic.topic_id,
                [failed(part.index, code, message) for part in topic.partition_data],
            )
            for topic in request.topic_data
        ]
    )


@handles(ApiKey.PRODUCE, refuse=refuse_produce)
def produce(
    request: ProduceRequest, context: Context
) -> Produced | Deferred | Steps[Produced | Deferred]:
    if context.is_large or (
        context.request_bytes > SMALL_REQUEST_BYTES and has_many_partitions(request)
    ):
        return producing(request, context)
    is_transactional = has_transactional_batch(request)
    if not is_transactional and not (
        context.parts.replicas.opening and opens_batches(request, context)
    ):
        return ProduceOperation(request, context).run_or_read()
    if unread := unread_logs(request, context):
        return Deferred(read_and_produce(unread, request, context))
    guards = None
    if is_transactional:
        if request.transactional_id is None:
            raise BrokerError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        guards = guards_of(request, context)
    prepared = preparation(request, context) if request.acks in ACKS else None
    operation = ProduceOperation(request, context, guards, prepared)
    if prepared is not None and not prepared.run_at_once():
        return Deferred(prepare_and_run(operation, prepared))
    if operation.must_verify:
        return Deferred(prepare_and_run(operation, None))
    return operation.run()


def has_many_partitions(request: ProduceRequest) -> bool:
    count = 0
    for topic in request.topic_data:
        count += len(topic.partition_data)
        if count > PARTITIONS_AT_ONCE:
            return True
    return False


def unread_logs(request: ProduceRequest, context: Context) -> list[Log]:
    """Logs whose producer state must be read from files first, as after a start."""
    logs = []
    replicas, by_id = context.parts.replicas, context.version >= TOPIC_IDS_FROM
    for topic in request.topic_data:
        name = topic.topic_id if by_id else topic.name
        for part in topic.partition_data:
            log = replicas.known_log(name, part.index)
            if log is not None and log.producers.must_be_read:
                logs.append(log)
    return logs


def finding_unread(request: ProduceRequest, context: Context) -> Steps[list[Log]]:
    """As `unread_logs`, for very many partitions."""
    logs: dict[Log, None] = {}
    replicas, by_id = context.parts.replicas, context.version >= TOPIC_IDS_FROM
    for topic in request.topic_data:
        yield 0
        name = topic.topic_id if by_id else topic.name
        for part in topic.partition_data:
            yield 0
            log = replicas.known_log(name, part.index)
            if log is not None and log.producers.must_be_read:
                logs[log] = None
    return list(logs)


async def read_and_produce(
    unread: list[Log], request: ProduceRequest, context: Context
) -> AppendedProduce:
    scheduler = context.parts.scheduler
    await scheduler.run(loading_producers(unread))
    outcome = await scheduler.run(producing_known(request, context))
    if isinstance(outcome, Deferred):
        return cast(AppendedProduce, await outcome.answer)
    return await until_appended(outcome)


def producing(request: ProduceRequest, context: Context) -> Steps[Produced | Deferred]:
    """As `produce`, for very many partitions."""
    unread = yield from finding_unread(request, context)
    if unread:
        return Deferred(read_and_produce(unread, request, context))
    return (yield from producing_known(request, context))


def producing_known(request: ProduceRequest, context: Context) -> Steps[Produced | Deferred]:
    guards = unprepared = None
    if (yield from finding_transactional_batch(request)):
        if request.transactional_id is None:
            raise BrokerError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        guards = yield from guarding(request, context)
    if context.parts.replicas.opening and request.acks in ACKS:
        unprepared = yield from preparing(request, context)
    operation = ProduceOperation(request, context, guards, unprepared)
    if unprepared is not None or operation.must_verify:
        return Deferred(prepare_and_run(operation, unprepared))
    return (yield from operation.running())


async def prepare_and_run(
    operation: ProduceOperation, unprepared: Preparation | None
) -> AppendedProduce:
    """The first records of a transaction wait until its coordinator has added the partitions;
    batches that must be opened, for the thread that opens them."""
    if operation.guards is not None and operation.guards.guards:
        await operation.guards.verify()
    if unprepared is not None:
        await unprepared.run(operation.context.parts.scheduler)
    return await until_appended(await operation.context.parts.scheduler.run(operation.running()))
