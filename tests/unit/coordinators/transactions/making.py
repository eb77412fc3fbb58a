"""Transactional ids in any state, for tests of the rules."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.coordinators.transactions.states import TransactionState
from ottla.coordinators.transactions.transaction import Transaction

ID = "payments"
PRODUCER = 40
NOW_MS = 1_000_000
LATER_MS = NOW_MS + 500
PARTITIONS = frozenset({TopicPartition("t", 0), TopicPartition("t", 1)})

EMPTY = Transaction(ID, PRODUCER, 3, 60_000, TransactionState.EMPTY, frozenset(), -1, NOW_MS)


def transaction(state: TransactionState, **changes: Any) -> Transaction:
    """In this state, with what belongs to it unless a test says otherwise."""
    if state is TransactionState.EMPTY:
        return replace(EMPTY, **changes)
    is_over = state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
    usual: dict[str, Any] = {
        "start_ms": NOW_MS,
        "partitions": frozenset() if is_over else PARTITIONS,
    }
    return replace(EMPTY, state=state, **usual | changes)


class NewIds:
    """Gives producer ids from 900 on, and knows how many it gave."""

    def __init__(self) -> None:
        self.given = 0
        self._ids = count(900)

    def __call__(self) -> int:
        self.given += 1
        return next(self._ids)
