"""AddPartitionsToTxn (key 24), versions 0 to 5.

v2 PRODUCER_FENCED · v3 flexible encoding · v4 several transactions, or verification
only, which leaders request from coordinators · v5 TRANSACTION_ABORTABLE
If one partition does not exist, none of its transaction is added.
While the producer's last transaction ends, a client's request waits for a short time. Kafka answers
CONCURRENT_TRANSACTIONS at once, and clients retry after a pause; librdkafka fails permanently if
its application aborts before that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.coordinators.replicated_answers import unreplicated
from ottla.coordinators.transactions.shard import LoadedShard
from ottla.coordinators.transactions.transaction import EPOCH_BUMP_VERSION, ProducerIdAndEpoch
from ottla.handlers.producing.fencing import fencing_code
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.metadata.topic_names import INTERNAL_TOPICS
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)

SEVERAL_FROM = 4
FENCED_ERROR_FROM = 2
TRANSACTION_BYTES = 8  # of a response, besides the id
TOPIC_BYTES = 8
PARTITION_BYTES = 8

Codes = Mapping[TopicPartition, ErrorCode]
TopicResults = list[AddPartitionsToTxnTopicResult]


def refuse_add_partitions(
    request: AddPartitionsToTxnRequest, code: ErrorCode, _message: str
) -> AddPartitionsToTxnResponse:
    """Fields that the version of the request does not have are not encoded."""
    only = only_transaction(request)
    return AddPartitionsToTxnResponse(
        error_code=code if request.transactions else ErrorCode.NONE,
        results_by_topic_v3_and_below=run_blocking(building_results(only, ResultCodes(code))),
    )


class Added(NamedTuple):
    """The outcome for one transaction of a request."""

    wanted: AddPartitionsToTxnTransaction
    results: TopicResults
    shard: LoadedShard | None  # its log must be replicated before the response is sent


@handles(ApiKey.ADD_PARTITIONS_TO_TXN, refuse=refuse_add_partitions)
def add_partitions_to_txn(
    request: AddPartitionsToTxnRequest, context: Context
) -> Steps[AddPartitionsToTxnResponse | Awaitable[AddPartitionsToTxnResponse] | Deferred]:
    if context.version < SEVERAL_FROM and must_wait(request, context):
        return Deferred(add_after_end(request, context))
    return (yield from adding(request, context))


def must_wait(request: AddPartitionsToTxnRequest, context: Context) -> bool:
    try:
        return context.parts.transactions.is_ending(request.v3_and_below_transactional_id)
    except BrokerError:  # it is answered for each partition
        return False


async def add_after_end(
    request: AddPartitionsToTxnRequest, context: Context
) -> AddPartitionsToTxnResponse:
    await context.parts.transactions.wait_ended(request.v3_and_below_transactional_id)
    outcome = await context.parts.scheduler.run(adding(request, context))
    return outcome if isinstance(outcome, AddPartitionsToTxnResponse) else await outcome


def adding(
    request: AddPartitionsToTxnRequest, context: Context
) -> Steps[AddPartitionsToTxnResponse | Awaitable[AddPartitionsToTxnResponse]]:
    is_one = context.version < SEVERAL_FROM
    added: list[Added] = []
    shards: dict[LoadedShard, None] = {}
    for wanted in [only_transaction(request)] if is_one else request.transactions:
        one = yield from add(wanted, context)
        added += [one]
        if one.shard is not None:
            shards[one.shard] = None
    waiting = unreplicated(shards)
    if waiting:
        return respond_later(added, waiting, context)
    return (yield from responding(added, {}, context))


async def respond_later(
    added: Iterable[Added], waiting: Mapping[LoadedShard, int], context: Context
) -> AddPartitionsToTxnResponse:
    failed = await context.parts.transactions.all_replicated(waiting)
    answering = responding(added, failed, context)
    return await context.parts.large_responses.build(answering, context)


def responding(
    added: Iterable[Added], failed: Mapping[LoadedShard, BrokerError], context: Context
) -> Steps[AddPartitionsToTxnResponse]:
    """Transactions whose records cannot be replicated get the error."""
    responses = []
    for wanted, results, shard in added:
        if shard is not None and shard in failed:
            results = yield from building_results(
                wanted, ResultCodes(code_of(failed[shard], context))
            )
        responses.append(AddPartitionsToTxnResult(wanted.transactional_id, results))
        yield 0
    if context.version < SEVERAL_FROM:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=responses[0].topic_results)
    return AddPartitionsToTxnResponse(results_by_transaction=responses)


def only_transaction(request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        request.v3_and_below_transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )


def add(wanted: AddPartitionsToTxnTransaction, context: Context) -> Steps[Added]:
    """Add the partitions of one transaction, or verify that they were added."""
    yield TRANSACTION_BYTES + len(wanted.transactional_id)
    partitions, errors = yield from checking(wanted, context)
    if errors:
        results = yield from building_results(
            wanted, ResultCodes(ErrorCode.OPERATION_NOT_ATTEMPTED, errors)
        )
        return Added(wanted, results, None)
    producer = ProducerIdAndEpoch(wanted.producer_id, wanted.producer_epoch)
    transactions, shard, codes = context.parts.transactions, None, ResultCodes(ErrorCode.NONE)
    try:
        if wanted.verify_only:
            shard, found = yield from transactions.verifying(
                wanted.transactional_id, producer, partitions
            )
            codes = ResultCodes(ErrorCode.NONE, found)
        else:
            client_version = EPOCH_BUMP_VERSION if context.version >= SEVERAL_FROM else 0
            shard = transactions.enlist(
                wanted.transactional_id, producer, partitions, client_version
            )
    except BrokerError as error:
        codes = ResultCodes(code_of(error, context))
    return Added(wanted, (yield from building_results(wanted, codes)), shard)


def code_of(error: BrokerError, context: Context) -> ErrorCode:
    return fencing_code(error.code, context.version >= FENCED_ERROR_FROM)


def checking(
    wanted: AddPartitionsToTxnTransaction, context: Context
) -> Steps[tuple[set[TopicPartition], dict[TopicPartition, ErrorCode]]]:
    """(the distinct partitions, the errors of those that cannot be added)."""
    partitions: set[TopicPartition] = set()
    errors = {}
    for topic in wanted.topics:
        for index in topic.partitions:
            each = TopicPartition(topic.name, index)
            partitions.add(each)
            if (error_code := error_of(each, context)) is not None:
                errors[each] = error_code
            yield 0
        yield 0
    return partitions, errors


def error_of(partition: TopicPartition, context: Context) -> ErrorCode | None:
    """Why a partition cannot be added. Clients may not add internal topics."""
    if context.version < SEVERAL_FROM and partition.topic in INTERNAL_TOPICS:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if context.parts.metadata.partition(*partition) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return None


class ResultCodes(NamedTuple):
    """One error code for all partitions, except `others`."""

    code: ErrorCode
    others: Codes = {}  # noqa: RUF012  # never changed

    def of(self, topic: str, partition: int) -> ErrorCode:
        if not self.others:
            return self.code
        return self.others.get(TopicPartition(topic, partition), self.code)


def building_results(
    wanted: AddPartitionsToTxnTransaction, codes: ResultCodes
) -> Steps[TopicResults]:
    results = []
    for topic in wanted.topics:
        yield TOPIC_BYTES + len(topic.name)
        if not topic.partitions and wanted.verify_only:
            continue
        partitions = []
        for each in topic.partitions:
            code = codes.of(topic.name, each)
            partitions.append(AddPartitionsToTxnPartitionResult(each, code))
            yield PARTITION_BYTES
        results.append(AddPartitionsToTxnTopicResult(topic.name, partitions))
    return results
