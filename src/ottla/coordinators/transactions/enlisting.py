"""AddPartitionsToTxn: adds partitions to a transaction, before or while it writes to them.

Owns      the rules: only the current producer may add partitions, and not while its last
          transaction is ending.
Promises  nothing is changed here; a rejected request raises BrokerError with Kafka's code.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch, Transaction
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

# Each change of a transaction writes all of its partitions, and must take only milliseconds.
PARTITIONS_MAX = 10_000


def decide_add_partitions(
    current: Transaction | None,
    producer: ProducerIdAndEpoch,
    partitions: Iterable[TopicPartition],
    client_version: int,
    now_ms: int,
    partitions_max: int = PARTITIONS_MAX,
) -> Transaction | None:
    """The transaction with these partitions; None if it has them all."""
    if current is not None and current.state in ENDING:
        # The producer may already use the id and epoch of its next transaction.
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    known = _check_producer(current, producer)
    if known.state is TransactionState.ONGOING and known.partitions.issuperset(partitions):
        return None
    wanted = known.partitions.union(partitions)
    if len(wanted) > partitions_max:
        what = f"a transaction of more than {partitions_max} partitions"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)
    return known.changed(
        now_ms,
        state=TransactionState.ONGOING,
        partitions=wanted,
        start_ms=now_ms if known.state in IDLE else known.start_ms,
        client_version=client_version,
    )


def verifying(
    current: Transaction | None, producer: ProducerIdAndEpoch, partitions: Iterable[TopicPartition]
) -> Steps[dict[TopicPartition, ErrorCode]]:
    """The error code of each partition: NONE if it is part of the producer's open transaction."""
    known = _check_producer(current, producer)
    codes = {}
    for each in partitions:
        is_known = each in known.partitions
        codes[each] = ErrorCode.NONE if is_known else ErrorCode.TRANSACTION_ABORTABLE
        yield 0
    return codes


def _check_producer(current: Transaction | None, producer: ProducerIdAndEpoch) -> Transaction:
    if current is None or current.producer_id != producer.producer_id:
        raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if current.epoch != producer.epoch:
        raise BrokerError(ErrorCode.PRODUCER_FENCED)
    if current.state in ENDING:
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return current
