"""One transactional id: its producer, and the transaction that is open, ending or over.

Owns      what is known of a transactional id, as a value; every change makes a new one.
Promises  all of it but `last_epoch` is in the record that each change writes.
Leaves    which change is due to the `decide_*` functions, bytes to `record_types.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ottla.base.ids import TopicPartition
from ottla.coordinators.transactions.states import ENDING, IDLE, State
from ottla.protocol.records.batch import NO_PRODUCER_ID

NO_EPOCH = -1
NEVER = -1
EPOCH_MAX = 0x7FFF
EPOCH_SPENT = EPOCH_MAX - 1  # the last that a producer is given: one more is left to fence it
EPOCH_BUMP_VERSION = 2  # from this transaction version on, every transaction has its own epoch

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
    state: State
    partitions: frozenset[TopicPartition]
    start_ms: int
    last_update_ms: int
    previous_producer_id: int = NO_PRODUCER_ID  # before the last change
    next_producer_id: int = NO_PRODUCER_ID  # once the markers are written: the epochs are used up
    client_version: int = 0  # of the transaction protocol, as its last request used it
    # The epoch whose owner may ask once more for the current one: its answer may have been lost.
    # Kafka's record has no place for it, so a new coordinator knows it of version 2 only.
    last_epoch: int = NO_EPOCH

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
        """Which markers are due, in a state that is ENDING."""
        return self.state is State.PREPARE_COMMIT

    def changed(self, now_ms: int, **changes: Any) -> Transaction:
        """The same id after one step."""
        return replace(
            self, previous_producer_id=self.producer_id, last_update_ms=now_ms, **changes
        )

    def is_timed_out(self, now_ms: int) -> bool:
        return self.state is State.ONGOING and self.start_ms + self.timeout_ms < now_ms

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        """Unused for so long that the id may be forgotten."""
        return self.state in IDLE and self.last_update_ms <= now_ms - expiration_ms


def new_transaction(
    transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int
) -> Transaction:
    """An id nobody used before; its first epoch is still to come."""
    return Transaction(
        transactional_id,
        producer_id,
        NO_EPOCH,
        timeout_ms,
        State.EMPTY,
        NO_PARTITIONS,
        NEVER,
        now_ms,
    )


def last_epoch_by_record(transaction: Transaction) -> int:
    """Which earlier epoch its producer may still use, as far as a record shows.

    With version 2 the end of a transaction bumps the epoch, so it was the one before.
    """
    is_ended = transaction.state in ENDING or transaction.state in IDLE - {State.EMPTY}
    if not (transaction.bumps_epoch and is_ended):
        return NO_EPOCH
    if transaction.epoch > 0:
        return transaction.epoch - 1
    has_new_id = transaction.previous_producer_id not in (NO_PRODUCER_ID, transaction.producer_id)
    return EPOCH_SPENT if has_new_id else NO_EPOCH
