"""The transactional ids of one partition of `__transaction_state`.

Owns      the fold of the partition's records: the newest record of an id is what it is.
Promises  replaying the records gives the same state again, but for `last_epoch` (see there).
Leaves    deciding to the `decide_*` functions, reading and writing the log to the runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.batches import Writer
from ottla.coordinators.records import CoordinatorRecord
from ottla.coordinators.shard import PendingResponse, Shard
from ottla.coordinators.transactions.record_types import transaction_of
from ottla.coordinators.transactions.states import ENDING, State
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.transaction_log_key import TransactionLogKey
from ottla.protocol.messages.transaction_log_value import TransactionLogValue


class TransactionShard:
    def __init__(self) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._ongoing: dict[str, Transaction] = {}  # so that time concerns only those
        self._end_offsets: dict[str, int] = {}  # of the newest records

    # What it knows.

    def get(self, transactional_id: str) -> Transaction | None:
        return self.transactions.get(transactional_id)

    def ending(self) -> Steps[list[Transaction]]:
        """Decided, but not all of their markers are known to be written."""
        return matching(list(self.transactions.values()), lambda each: each.state in ENDING)

    def timed_out(self, now_ms: int) -> Steps[list[Transaction]]:
        return matching(list(self._ongoing.values()), lambda each: each.is_timed_out(now_ms))

    def expired(self, now_ms: int, expiration_ms: int) -> Steps[list[Transaction]]:
        """Whose ids nobody used for long."""
        known = list(self.transactions.values())
        return matching(known, lambda each: each.is_expired(now_ms, expiration_ms))

    def is_expired(self, transactional_id: str, now_ms: int, expiration_ms: int) -> bool:
        known = self.transactions.get(transactional_id)
        return known is not None and known.is_expired(now_ms, expiration_ms)

    def end_offset(self, transactional_id: str) -> int:
        """What must be replicated before the state of the id may be shown."""
        return self._end_offsets.get(transactional_id, 0)

    # How it changes.

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
        """What the record of the last change could not say."""
        self._put(replace(self.transactions[transactional_id], last_epoch=last_epoch))

    def _put(self, transaction: Transaction) -> None:
        self.transactions[transaction.transactional_id] = transaction
        if transaction.state is State.ONGOING:
            self._ongoing[transaction.transactional_id] = transaction

    def apply_marker(self, writer: Writer, is_commit: bool) -> None:
        """No transaction writes here."""

    def end_step(self, refusal: ErrorCode | None = None) -> Sequence[PendingResponse]:  # noqa: ARG002
        """Nothing is soft, and nobody waits in here."""
        return ()

    def cancel_step(self) -> None: ...

    def loaded(self, now_ms: int) -> Steps[None]:  # noqa: ARG002
        """The coordinator takes up what is ending."""
        yield from ()

    def unloaded(self) -> Steps[None]:
        """Nobody waits in here."""
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
