"""The end of a transaction: by its producer, by timeout, or by a new producer.

Owns      the rules of both protocols. Classic: the producer keeps its epoch, and a repeated EndTxn
          is recognised by the state. Version 2 (KIP-890): ending increments the epoch, so that late
          requests cannot affect the next transaction; a repetition is recognised by the previous
          epoch.
Promises  nothing is changed here; a rejected request raises BrokerError with Kafka's code.
Leaves    markers, which are written between Prepare and Complete, to `markers.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.base.ids import NO_PRODUCER_EPOCH
from ottla.coordinators.transactions.initialising import NewProducerId
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import (
    EPOCH_BUMP_VERSION,
    EPOCH_MAX,
    EPOCH_SPENT,
    NO_PARTITIONS,
    ProducerIdAndEpoch,
    Transaction,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import NO_PRODUCER_ID


class EndRequest(NamedTuple):
    """The request of a producer."""

    producer: ProducerIdAndEpoch
    is_commit: bool
    client_version: int


def decide_end(
    current: Transaction | None, end: EndRequest, new_id: NewProducerId, now_ms: int
) -> Transaction | None:
    """The transaction that is to end; None for a repeated request after the end."""
    if current is None:
        raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if end.client_version >= EPOCH_BUMP_VERSION:
        return _decide_bumping_end(current, end, new_id, now_ms)
    return _decide_classic_end(current, end, now_ms)


def _decide_classic_end(current: Transaction, end: EndRequest, now_ms: int) -> Transaction | None:
    if current.producer_id != end.producer.producer_id:
        raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if current.epoch != end.producer.epoch:
        raise BrokerError(ErrorCode.PRODUCER_FENCED)
    if current.state in ENDING:
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if current.state is TransactionState.ONGOING:
        return current.changed(now_ms, state=prepare(end.is_commit), client_version=0)
    if current.state is complete(end.is_commit):
        return None
    raise _refused(current, end)


def _decide_bumping_end(
    current: Transaction, end: EndRequest, new_id: NewProducerId, now_ms: int
) -> Transaction | None:
    if current.state in ENDING:
        # This may be the end of the next transaction, with its new id and epoch.
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    is_retry = _is_retry(current, end.producer)
    if current.producer_id != end.producer.producer_id and not is_retry:
        raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if current.epoch != end.producer.epoch and not is_retry:
        raise BrokerError(ErrorCode.PRODUCER_FENCED)
    if current.state is TransactionState.ONGOING:
        return _bumped(current, prepare(end.is_commit), new_id, now_ms)
    if is_retry:
        if current.state is complete(end.is_commit):
            return None
        raise _refused(current, end)
    if current.state in IDLE and not end.is_commit:
        # No partition was added, perhaps because that failed: the epoch is incremented all the
        # same.
        return _bumped(current, TransactionState.PREPARE_ABORT, new_id, now_ms, start_ms=now_ms)
    raise _refused(current, end)


def _is_retry(current: Transaction, producer: ProducerIdAndEpoch) -> bool:
    """Whether the producer repeats an EndTxn because it missed the response."""
    if current.state not in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT):
        return False
    if producer.producer_id == current.producer_id:
        return current.epoch == producer.epoch + 1
    is_before = producer.producer_id == current.previous_producer_id
    return is_before and producer.epoch == EPOCH_SPENT and current.epoch == 0


def decide_fence(
    current: Transaction, transaction_version: int, new_id: NewProducerId, now_ms: int
) -> Transaction:
    """Abort an open transaction and fence its producer.

    `transaction_version` is the finalised level of the cluster, not that of the producer.
    """
    if transaction_version >= EPOCH_BUMP_VERSION:
        return _bumped(current, TransactionState.PREPARE_ABORT, new_id, now_ms)
    return current.changed(
        now_ms,
        state=TransactionState.PREPARE_ABORT,
        epoch=min(current.epoch + 1, EPOCH_MAX),
        last_epoch=NO_PRODUCER_EPOCH,
        client_version=0,
    )


def _bumped(
    current: Transaction,
    state: TransactionState,
    new_id: NewProducerId,
    now_ms: int,
    start_ms: int | None = None,
) -> Transaction:
    return current.changed(
        now_ms,
        state=state,
        epoch=min(current.epoch + 1, EPOCH_MAX),
        last_epoch=current.epoch,
        # The last epoch: the producer continues with another id.
        next_producer_id=new_id() if current.is_epoch_spent else NO_PRODUCER_ID,
        start_ms=current.start_ms if start_ms is None else start_ms,
        client_version=EPOCH_BUMP_VERSION,
    )


def decide_complete(current: Transaction, now_ms: int) -> Transaction:
    """All markers are written."""
    assert current.state in ENDING, current
    producer = producer_afterwards(current)
    return current.changed(
        now_ms,
        state=complete(current.is_commit),
        producer_id=producer.producer_id,
        epoch=producer.epoch,
        next_producer_id=NO_PRODUCER_ID,
        partitions=NO_PARTITIONS,
    )


def producer_afterwards(current: Transaction) -> ProducerIdAndEpoch:
    """The producer id and epoch of the next transaction."""
    if current.bumps_epoch and current.next_producer_id != NO_PRODUCER_ID:
        return ProducerIdAndEpoch(current.next_producer_id, 0)
    return current.producer


def prepare(is_commit: bool) -> TransactionState:
    return TransactionState.PREPARE_COMMIT if is_commit else TransactionState.PREPARE_ABORT


def complete(is_commit: bool) -> TransactionState:
    return TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT


def _refused(current: Transaction, end: EndRequest) -> BrokerError:
    wanted = "commit" if end.is_commit else "abort"
    return BrokerError(
        ErrorCode.INVALID_TXN_STATE, f"cannot {wanted} in state {current.state.label}"
    )
