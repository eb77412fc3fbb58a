"""The states of a transactional id, under Kafka's numbers and names.

    Empty ──> Ongoing ──> PrepareCommit ──> CompleteCommit ──> Ongoing, Empty
                     └──> PrepareAbort ───> CompleteAbort ───> Ongoing, Empty

Two of them are never written: an expired id is forgotten instead of being Dead, and fencing goes to
PrepareAbort in one step.
"""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
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
        """As tools show it: PrepareCommit."""
        return "".join(word.capitalize() for word in self.name.split("_"))


ENDING = frozenset({State.PREPARE_COMMIT, State.PREPARE_ABORT})  # decided, markers are due
IDLE = frozenset({State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT})  # nothing is open
BY_LABEL = {state.label: state for state in State}
