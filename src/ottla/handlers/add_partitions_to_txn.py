"""AddPartitionsToTxn (key 24), versions 0 to 5.

v2 PRODUCER_FENCED · v3 flexible encoding · v4 several transactions, also only to verify: what
leaders ask of coordinators · v5 TRANSACTION_ABORTABLE
One partition that does not exist keeps the others of its transaction from being added.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.coordinators.transactions.transaction import EPOCH_BUMP_VERSION, ProducerIdAndEpoch
from ottla.handlers.context import Context
from ottla.handlers.fencing import fencing_code
from ottla.handlers.registry import handles
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

Codes = dict[TopicPartition, ErrorCode]


def refuse_add_partitions(
    request: AddPartitionsToTxnRequest, code: ErrorCode, _message: str
) -> AddPartitionsToTxnResponse:
    """What the version of the request cannot carry is left out of its answer."""
    only = only_transaction(request)
    return AddPartitionsToTxnResponse(
        error_code=code if request.transactions else ErrorCode.NONE,
        results_by_topic_v3_and_below=by_topic(only, dict.fromkeys(partitions_of(only), code)),
    )


@handles(ApiKey.ADD_PARTITIONS_TO_TXN, versions=range(0, 6), refuse=refuse_add_partitions)
async def add_partitions_to_txn(
    request: AddPartitionsToTxnRequest, context: Context
) -> AddPartitionsToTxnResponse:
    if context.version < SEVERAL_FROM:
        only = only_transaction(request)
        codes = await add(only, context)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=by_topic(only, codes))
    results = []
    for each in request.transactions:
        codes = await add(each, context)
        results.append(AddPartitionsToTxnResult(each.transactional_id, by_topic(each, codes)))
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def only_transaction(request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        request.v3_and_below_transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )


async def add(wanted: AddPartitionsToTxnTransaction, context: Context) -> Codes:
    """Enlist the partitions of one transaction, or look whether they are; a code for each."""
    partitions = partitions_of(wanted)
    faults = {each: fault for each in partitions if (fault := fault_of(each, context)) is not None}
    if faults:
        return {each: faults.get(each, ErrorCode.OPERATION_NOT_ATTEMPTED) for each in partitions}
    producer = ProducerIdAndEpoch(wanted.producer_id, wanted.producer_epoch)
    coordinator = context.parts.transactions
    try:
        if wanted.verify_only:
            return await coordinator.verify_partitions(
                wanted.transactional_id, producer, partitions
            )
        client_version = EPOCH_BUMP_VERSION if context.version >= SEVERAL_FROM else 0
        await coordinator.add_partitions(
            wanted.transactional_id, producer, partitions, client_version
        )
        code = ErrorCode.NONE
    except BrokerError as error:
        code = fencing_code(error.code, context.version >= FENCED_ERROR_FROM)
    return dict.fromkeys(partitions, code)


def fault_of(partition: TopicPartition, context: Context) -> ErrorCode | None:
    """Why a partition cannot be enlisted. Internal topics are no client's business."""
    if context.version < SEVERAL_FROM and partition.topic in INTERNAL_TOPICS:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if context.parts.metadata.partition(*partition) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return None


def partitions_of(wanted: AddPartitionsToTxnTransaction) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, partition)
        for topic in wanted.topics
        for partition in topic.partitions
    ]


def by_topic(
    wanted: AddPartitionsToTxnTransaction, codes: Codes
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(topic.name, results(topic.name, topic.partitions, codes))
        for topic in wanted.topics
        if topic.partitions or not wanted.verify_only
    ]


def results(
    topic: str, partitions: Iterable[int], codes: Codes
) -> list[AddPartitionsToTxnPartitionResult]:
    return [
        AddPartitionsToTxnPartitionResult(each, codes[TopicPartition(topic, each)])
        for each in partitions
    ]
