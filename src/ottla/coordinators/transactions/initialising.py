"""InitProducerId: a producer takes over its transactional id from the previous producer.

Owns      the rules: an open transaction is aborted first; every producer gets its own epoch, so
          that earlier ones are fenced; a producer that sends its last id and epoch gets the next
          epoch, or the same response again (KIP-360).
Promises  nothing is changed here; a rejected request raises BrokerError with Kafka's code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ottla.base.ids import NO_PRODUCER_EPOCH
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import (
    EPOCH_SPENT,
    NEVER,
    NO_PARTITIONS,
    ProducerIdAndEpoch,
    Transaction,
    new_transaction,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

NewProducerId = Callable[[], int]


class InitRequest(NamedTuple):
    transactional_id: str
    timeout_ms: int
    expected: ProducerIdAndEpoch | None  # the last id and epoch of a continuing producer


def must_abort_first(current: Transaction | None, wanted: InitRequest) -> bool:
    """Whether a transaction is open that has to be aborted before a new epoch is assigned."""
    if current is None:
        return False
    if current.state in ENDING:
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    _check_expected_id(current, wanted.expected)
    return current.state is TransactionState.ONGOING


def decide_init(
    current: Transaction | None, wanted: InitRequest, new_id: NewProducerId, now_ms: int
) -> Transaction:
    """The transactional id with its new producer id and epoch."""
    if current is None:
        current = new_transaction(wanted.transactional_id, new_id(), wanted.timeout_ms, now_ms)
    _check_expected_id(current, wanted.expected)
    if current.state not in IDLE:
        raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
    expected = wanted.expected
    if current.is_epoch_spent and (expected is None or expected.epoch == current.epoch):
        last_epoch = NO_PRODUCER_EPOCH if expected is None else current.epoch
        producer = ProducerIdAndEpoch(new_id(), 0)
    else:
        epoch, last_epoch = _next_epoch(current, expected)
        producer = ProducerIdAndEpoch(current.producer_id, epoch)
    return current.changed(
        now_ms,
        producer_id=producer.producer_id,
        epoch=producer.epoch,
        last_epoch=last_epoch,
        timeout_ms=wanted.timeout_ms,
        state=TransactionState.EMPTY,
        partitions=NO_PARTITIONS,
        start_ms=NEVER,
    )


def _check_expected_id(current: Transaction, expected: ProducerIdAndEpoch | None) -> None:
    if expected is None or current.epoch == NO_PRODUCER_EPOCH:
        return
    if expected.producer_id == current.producer_id:
        return
    # It may have exhausted its epochs and missed the response with the new id.
    is_before = expected.producer_id == current.previous_producer_id
    if not (is_before and expected.epoch >= EPOCH_SPENT):
        raise BrokerError(ErrorCode.PRODUCER_FENCED)


def _next_epoch(current: Transaction, expected: ProducerIdAndEpoch | None) -> tuple[int, int]:
    """Returns (next epoch, previous epoch that may repeat the request)."""
    if expected is None:
        return current.epoch + 1, NO_PRODUCER_EPOCH
    if current.epoch == NO_PRODUCER_EPOCH or expected.epoch == current.epoch:
        return current.epoch + 1, current.epoch
    if expected.epoch == current.last_epoch:
        return current.epoch, current.last_epoch
    raise BrokerError(ErrorCode.PRODUCER_FENCED)
