"""One transactional id: its producer, and its open, ending or completed transaction.

Owns      the state of a transactional id; immutable, a change creates a new value.
Promises  everything except `last_epoch` is in the record of each change.
Leaves    the changes to the `decide_*` functions, encoding to `record_types.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ottla.base.ids import NO_PRODUCER_EPOCH, TopicPartition
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.protocol.records.batch import NO_PRODUCER_ID

NEVER = -1
EPOCH_MAX = 0x7FFF
# the last epoch assigned to a producer: one more is reserved for fencing
EPOCH_SPENT = EPOCH_MAX - 1
EPOCH_BUMP_VERSION = 2  # since this version every transaction has its own epoch

NO_PARTITIONS: frozenset[TopicPartition] = frozenset()


class ProducerIdAndEpoch(NamedTuple):
    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Transaction:
    transactional_id: str
    producer_id: int
    epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: frozenset[TopicPartition]
    start_ms: int
    last_update_ms: int
    previous_producer_id: int = NO_PRODUCER_ID  # of the state before the last change
    next_producer_id: int = NO_PRODUCER_ID  # used after the markers, if the epochs are exhausted
    client_version: int = 0  # transaction version of its last request
    # The epoch whose producer may request the current one again, because it may have missed the
    # response. Kafka's record does not contain it, so a new coordinator has it only with version 2.
    last_epoch: int = NO_PRODUCER_EPOCH

    @property
    def producer(self) -> ProducerIdAndEpoch:
        return ProducerIdAndEpoch(self.producer_id, self.epoch)

    @property
    def is_epoch_spent(self) -> bool:
        return self.epoch >= EPOCH_SPENT

    @property
    def bumps_epoch(self) -> bool:
        return self.client_version >= EPOCH_BUMP_VERSION

    @property
    def is_commit(self) -> bool:
        """The type of the markers, in a state that is ENDING."""
        return self.state is TransactionState.PREPARE_COMMIT

    def changed(self, now_ms: int, **changes: Any) -> Transaction:
        """The same id after a change."""
        return replace(
            self, previous_producer_id=self.producer_id, last_update_ms=now_ms, **changes
        )

    def is_timed_out(self, now_ms: int) -> bool:
        return self.state is TransactionState.ONGOING and self.start_ms + self.timeout_ms < now_ms

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        """Whether it was unused for longer than the expiration time."""
        return self.state in IDLE and self.last_update_ms <= now_ms - expiration_ms


def new_transaction(
    transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int
) -> Transaction:
    """A new id; its first epoch is not assigned yet."""
    return Transaction(
        transactional_id,
        producer_id,
        NO_PRODUCER_EPOCH,
        timeout_ms,
        TransactionState.EMPTY,
        NO_PARTITIONS,
        NEVER,
        now_ms,
    )


def last_epoch_by_record(transaction: Transaction) -> int:
    """The previous epoch that its producer may still use, as far as it follows from a record.

    With version 2 the end of a transaction increments the epoch, so it is the previous one.
    """
    is_ended = transaction.state in ENDING or transaction.state in IDLE - {TransactionState.EMPTY}
    if not (transaction.bumps_epoch and is_ended):
        return NO_PRODUCER_EPOCH
    if transaction.epoch > 0:
        return transaction.epoch - 1
    has_new_id = transaction.previous_producer_id not in (NO_PRODUCER_ID, transaction.producer_id)
    return EPOCH_SPENT if has_new_id else NO_PRODUCER_EPOCH
