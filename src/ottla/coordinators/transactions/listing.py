"""Filters of ListTransactions."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.patterns import Matches
from ottla.coordinators.transactions.states import BY_LABEL, TransactionState
from ottla.coordinators.transactions.transaction import Transaction

ANY_DURATION = -1


class Filter(NamedTuple):
    """Empty fields match everything."""

    state_labels: Set[str] = frozenset()
    producer_ids: Set[int] = frozenset()
    duration_ms: int = ANY_DURATION  # open for longer than this
    matches: Matches | None = None  # of the transactional id

    def finding_unknown_states(self) -> Steps[list[str]]:
        unknown = []
        for label in self.state_labels:
            if label not in BY_LABEL:
                unknown.append(label)
                yield len(label)
        return unknown

    def includes(self, transaction: Transaction, now_ms: int) -> bool:
        if transaction.state is TransactionState.DEAD:
            return False
        if self.producer_ids and transaction.producer_id not in self.producer_ids:
            return False
        if self.state_labels and transaction.state.label not in self.state_labels:
            return False
        if self.duration_ms >= 0 and now_ms - transaction.start_ms <= self.duration_ms:
            return False
        return self.matches is None or self.matches(transaction.transactional_id)
