"""The transactional ids of one partition of `__transaction_state`.

Owns      the state that results from the partition's records: the newest record of each id.
Promises  replaying the records gives the same state, except for `last_epoch` (see there).
Leaves    decisions to the `decide_*` functions, reading and writing the log to the runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.batches import Writer
from ottla.coordinators.records import CoordinatorRecord
from ottla.coordinators.shard import DecidedResponse, Shard
from ottla.coordinators.transactions.record_types import transaction_of
from ottla.coordinators.transactions.states import ENDING, TransactionState
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.transaction_log_key import TransactionLogKey
from ottla.protocol.messages.transaction_log_value import TransactionLogValue


class TransactionShard:
    def __init__(self) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._ongoing: dict[str, Transaction] = {}  # only these can time out
        self._end_offsets: dict[str, int] = {}  # end offsets of the newest records

    # Reading

    def get(self, transactional_id: str) -> Transaction | None:
        return self.transactions.get(transactional_id)

    def ending(self) -> Steps[list[Transaction]]:
        """Transactions whose end is decided, but whose markers may not all be written."""
        return matching(list(self.transactions.values()), lambda each: each.state in ENDING)

    def timed_out(self, now_ms: int) -> Steps[list[Transaction]]:
        return matching(list(self._ongoing.values()), lambda each: each.is_timed_out(now_ms))

    def expired(self, now_ms: int, expiration_ms: int) -> Steps[list[Transaction]]:
        """Unused transactional ids."""
        known = list(self.transactions.values())
        return matching(known, lambda each: each.is_expired(now_ms, expiration_ms))

    def is_expired(self, transactional_id: str, now_ms: int, expiration_ms: int) -> bool:
        known = self.transactions.get(transactional_id)
        return known is not None and known.is_expired(now_ms, expiration_ms)

    def end_offset(self, transactional_id: str) -> int:
        """The offset that must be replicated before the state of the id is visible."""
        return self._end_offsets.get(transactional_id, 0)

    # Applying records

    def apply(self, record: CoordinatorRecord, writer: Writer, offset: int) -> None:  # noqa: ARG002
        key, value = record.key, record.value
        assert isinstance(key, TransactionLogKey)
        self._ongoing.pop(key.transactional_id, None)
        if value is None:
            self.transactions.pop(key.transactional_id, None)
            self._end_offsets.pop(key.transactional_id, None)
            return
        assert isinstance(value, TransactionLogValue)
        self._end_offsets[key.transactional_id] = offset + 1
        self._put(transaction_of(key.transactional_id, value))

    def remember_last_epoch(self, transactional_id: str, last_epoch: int) -> None:
        """The part of the last change that is not in its record."""
        self._put(replace(self.transactions[transactional_id], last_epoch=last_epoch))

    def _put(self, transaction: Transaction) -> None:
        self.transactions[transaction.transactional_id] = transaction
        if transaction.state is TransactionState.ONGOING:
            self._ongoing[transaction.transactional_id] = transaction

    def apply_marker(self, writer: Writer, is_commit: bool) -> None:
        """No transaction writes to this topic."""

    def end_step(self, refusal: ErrorCode | None = None) -> Sequence[DecidedResponse]:  # noqa: ARG002
        """There is no soft state, and there are no waiting requests."""
        return ()

    def cancel_step(self) -> None: ...

    def loaded(self, now_ms: int) -> Steps[None]:  # noqa: ARG002
        """The coordinator completes the ending transactions."""
        yield from ()

    def unloaded(self) -> Steps[None]:
        """There are no waiting requests."""
        yield from ()


LoadedShard = Shard[TransactionShard]


def matching(
    transactions: Iterable[Transaction], is_wanted: Callable[[Transaction], bool]
) -> Steps[list[Transaction]]:
    found = []
    for each in transactions:
        if is_wanted(each):
            found.append(each)
        yield 0
    return found
