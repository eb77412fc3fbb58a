"""What all checks need of a history: who wrote a value, who polled it first, and the order of each
key.

Owns      the version order: all offsets that sends and polls have shown. Offsets without a value
          are not gaps: control records take offsets too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable

from tests.chaos.checker.history import History, Operation, Result

Written = tuple[str, str]  # key and value


class VersionOrder:
    """The values of one key by offset."""

    def __init__(self) -> None:
        self.values_at: defaultdict[int, set[str]] = defaultdict(set)
        self.offsets_of: defaultdict[str, set[int]] = defaultdict(set)
        self.last_polled = -1
        self._visible: list[int] = []

    def note(self, offset: int, value: str) -> None:
        self.values_at[offset].add(value)
        self.offsets_of[value].add(offset)

    def note_poll(self, offset: int, value: str) -> None:
        self.note(offset, value)
        self.last_polled = max(self.last_polled, offset)

    def set_visible(self, values: Iterable[str]) -> None:
        """The values that every reader must see: no others count as left out."""
        self._visible = sorted(
            {offset for value in values for offset in self.offsets_of.get(value, ())}
        )

    def offset_of(self, value: str) -> int | None:
        return min(self.offsets_of[value]) if value in self.offsets_of else None

    def between(self, first: int, last: int) -> list[int]:
        """The offsets of visible values after `first` and before `last`."""
        visible = self._visible
        return visible[bisect_right(visible, first) : bisect_left(visible, last)]

    @property
    def visible(self) -> list[int]:
        return self._visible


class Analysis:
    def __init__(self, history: History) -> None:
        self.operations = history.operations
        self.orders: defaultdict[str, VersionOrder] = defaultdict(VersionOrder)
        self.writer_of: dict[Written, Operation] = {}
        self.first_polled_s: dict[Written, float] = {}
        self.sent_twice: list[Written] = []  # a fault of a client of the test, not of a broker
        for operation in history.operations:
            self._note_sends(operation)
            self._note_reads(operation)
        self._find_visible()

    def _note_sends(self, operation: Operation) -> None:
        for send in operation.sends:
            if (send.key, send.value) in self.writer_of:
                self.sent_twice.append((send.key, send.value))
            self.writer_of[send.key, send.value] = operation
            if send.offset is not None:
                self.orders[send.key].note(send.offset, send.value)

    def _note_reads(self, operation: Operation) -> None:
        for key, offset, value in operation.reads:
            self.orders[key].note_poll(offset, value)
            seen_s = self.first_polled_s.get((key, value), operation.end_s)
            self.first_polled_s[key, value] = min(seen_s, operation.end_s)

    def _find_visible(self) -> None:
        """What was acknowledged, and what anyone has polled. A transaction of unknown result may
        have been aborted."""
        visible: defaultdict[str, set[str]] = defaultdict(set)
        for key, value in self.first_polled_s:
            visible[key].add(value)
        for key, value in self.acknowledged:
            visible[key].add(value)
        for key, order in self.orders.items():
            order.set_visible(visible[key])

    @property
    def acknowledged(self) -> list[Written]:
        return [
            written
            for written, operation in self.writer_of.items()
            if operation.result is Result.OK
        ]

    def transactions(self) -> list[Operation]:
        return [each for each in self.operations if each.is_transaction]

    def by_process(self) -> dict[str, list[Operation]]:
        """In the order in which they began."""
        found: defaultdict[str, list[Operation]] = defaultdict(list)
        for operation in self.operations:
            found[operation.process].append(operation)
        return found
