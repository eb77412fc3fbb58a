"""The transactions of one partition that still hold back readers of committed data.

Owns      transactions without a marker, and those whose marker is not yet replicated.
Promises  the first unstable offset at the cost of a comparison: every fetch asks for it.
Leaves    recognising begin and end of a transaction to `producer_state.py`.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple


class CompletedTransaction(NamedTuple):
    """A transaction whose marker was appended."""

    producer_id: int
    first_offset: int
    last_offset: int  # that of the marker
    is_aborted: bool
    last_stable_offset: int  # once the marker is replicated; for the transaction index


class OpenTransactions:
    __slots__ = ("_first_undecided", "_first_unreplicated", "_undecided", "unreplicated")

    def __init__(self) -> None:
        # Transactions begin in the order of the log, so the dictionary stays sorted by itself.
        self._undecided: dict[int, int] = {}  # first offset -> producer id
        self.unreplicated: deque[CompletedTransaction] = deque()  # by marker offset
        self._first_undecided: int | None = None
        self._first_unreplicated: int | None = None

    def __len__(self) -> int:
        return len(self._undecided)

    @property
    def is_empty(self) -> bool:
        return not self._undecided and not self.unreplicated

    @property
    def first_undecided_offset(self) -> int | None:
        """Where the oldest transaction without a marker begins."""
        return self._first_undecided

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins that is undecided, or decided but not replicated."""
        undecided, unreplicated = self._first_undecided, self._first_unreplicated
        if undecided is None:
            return unreplicated
        if unreplicated is None or undecided < unreplicated:
            return undecided
        return unreplicated

    def begin(self, first_offset: int, producer_id: int) -> None:
        self._undecided[first_offset] = producer_id
        if self._first_undecided is None:
            self._first_undecided = first_offset

    def complete(
        self, producer_id: int, first_offset: int, last_offset: int, is_aborted: bool
    ) -> CompletedTransaction:
        """A marker at `last_offset` ends the transaction; it stays unstable until replicated."""
        self._undecided.pop(first_offset, None)
        if first_offset == self._first_undecided:
            self._first_undecided = next(iter(self._undecided), None)
        stable = last_offset + 1 if self._first_undecided is None else self._first_undecided
        completed = CompletedTransaction(producer_id, first_offset, last_offset, is_aborted, stable)
        self.unreplicated.append(completed)
        if self._first_unreplicated is None or first_offset < self._first_unreplicated:
            self._first_unreplicated = first_offset
        return completed

    def replicated_to(self, offset: int) -> None:
        """Everything below `offset` is replicated: markers there no longer hold anything back."""
        waiting = self.unreplicated
        if not waiting or waiting[0].last_offset >= offset:
            return
        while waiting and waiting[0].last_offset < offset:
            waiting.popleft()
        firsts = (transaction.first_offset for transaction in waiting)
        self._first_unreplicated = min(firsts, default=None)
