"""AddPartitionsToTxn: which partitions a transaction writes to, said before or while it does.

Owns      the rules: only the current producer may add, and not while its last transaction ends.
Promises  nothing is changed here; BrokerError with Kafka's code where it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.coordinators.transactions.states import ENDING, IDLE, State
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch, Transaction
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


def decide_add_partitions(
    current: Transaction | None,
    producer: ProducerIdAndEpoch,
    partitions: Iterable[TopicPartition],
    client_version: int,
    now_ms: int,
) -> Transaction | None:
    """The transaction with these partitions; None where it has them all."""
    if current is not None and current.state in ENDING:
        # Whoever asks may go by the id and epoch of its next transaction already.
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    known = _check_producer(current, producer)
    wanted = known.partitions.union(partitions)
    if known.state is State.ONGOING and wanted == known.partitions:
        return None
    return known.changed(
        now_ms,
        state=State.ONGOING,
        partitions=wanted,
        start_ms=now_ms if known.state in IDLE else known.start_ms,
        client_version=client_version,
    )


def decide_verify(
    current: Transaction | None, producer: ProducerIdAndEpoch, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """Which of the partitions take part in the producer's open transaction."""
    known = _check_producer(current, producer)
    return {
        each: ErrorCode.NONE if each in known.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for each in partitions
    }


def _check_producer(current: Transaction | None, producer: ProducerIdAndEpoch) -> Transaction:
    if current is None or current.producer_id != producer.producer_id:
        raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if current.epoch != producer.epoch:
        raise BrokerError(ErrorCode.PRODUCER_FENCED)
    if current.state in ENDING:
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return current
