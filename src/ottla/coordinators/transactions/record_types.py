"""The record of `__transaction_state`, in Kafka's format: one per change of a transactional id.

Value version 0 has no tagged fields; since transaction version 1 the value version is 1.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from ottla.base.ids import TopicPartition
from ottla.coordinators.records import CoordinatorRecord, RecordType, RecordTypes
from ottla.coordinators.transactions.states import TransactionState
from ottla.coordinators.transactions.transaction import (
    NO_PARTITIONS,
    Transaction,
    last_epoch_by_record,
)
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.transaction_log_key import TransactionLogKey
from ottla.protocol.messages.transaction_log_value import PartitionsSchema, TransactionLogValue

TAGGED_VALUE_VERSION = 1

TRANSACTION_RECORDS: RecordTypes = {
    TransactionLogKey.RECORD_TYPE: RecordType(TransactionLogKey, TransactionLogValue)
}


def record_of(transaction: Transaction, transaction_version: int) -> CoordinatorRecord:
    """`transaction_version` is the finalised level of the cluster."""
    value_version = min(transaction_version, TAGGED_VALUE_VERSION)
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=_by_topic(transaction),
        transaction_last_update_timestamp_ms=transaction.last_update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
    )
    if value_version >= TAGGED_VALUE_VERSION:
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
        value.client_transaction_version = transaction.client_version
    return CoordinatorRecord(TransactionLogKey(transaction.transactional_id), value, value_version)


def tombstone_of(transactional_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(TransactionLogKey(transactional_id), None)


def transaction_of(transactional_id: str, value: TransactionLogValue) -> Transaction:
    try:
        state = TransactionState(value.transaction_status)
    except ValueError:
        raise MalformedMessage(
            f"transactional id {transactional_id!r}: unknown state {value.transaction_status}"
        ) from None
    partitions = NO_PARTITIONS
    if value.transaction_partitions is not None:
        partitions = frozenset(
            TopicPartition(topic.topic, partition)
            for topic in value.transaction_partitions
            for partition in topic.partition_ids
        )
    transaction = Transaction(
        transactional_id,
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        state,
        partitions,
        value.transaction_start_timestamp_ms,
        value.transaction_last_update_timestamp_ms,
        value.previous_producer_id,
        value.next_producer_id,
        value.client_transaction_version,
    )
    return replace(transaction, last_epoch=last_epoch_by_record(transaction))


def _by_topic(transaction: Transaction) -> list[PartitionsSchema] | None:
    """Sorted, so that encoding is deterministic; None before the first partition."""
    if transaction.state is TransactionState.EMPTY:
        return None
    topics: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(transaction.partitions):
        topics[topic].append(partition)
    return [PartitionsSchema(topic, partitions) for topic, partitions in topics.items()]
