"""The states of a transactional id, with Kafka's numbers and names.

    Empty ──> Ongoing ──> PrepareCommit ──> CompleteCommit ──> Ongoing, Empty
                     └──> PrepareAbort ───> CompleteAbort ───> Ongoing, Empty

Two of them are never written: an expired id is deleted instead of being Dead, and fencing goes to
PrepareAbort in one step.
"""

from __future__ import annotations

from enum import IntEnum


class TransactionState(IntEnum):
    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """The name that tools show: PrepareCommit."""
        return "".join(word.capitalize() for word in self.name.split("_"))


# decided, markers are being written
ENDING = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
IDLE = frozenset(
    {TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT}
)  # no open transaction
BY_LABEL = {state.label: state for state in TransactionState}
