"""The order in which one consumer reads a key: nothing left out, nothing twice.

Within one operation, and from one operation of a process to its next. A process that chose its
position itself, or was given partitions by a rebalance, starts again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding
from tests.chaos.checker.history import Assign, Operation, Poll, Read, Subscribe

# (after a value is left out, after the order is inverted)
WITHIN = (Anomaly.INTERNAL_POLL_SKIP, Anomaly.INTERNAL_NONMONOTONIC_POLL)
BETWEEN = (Anomaly.POLL_SKIP, Anomaly.NONMONOTONIC_POLL)


def poll_order(analysis: Analysis) -> Iterator[Finding]:
    for process, operations in analysis.by_process().items():
        yield from Consumer(analysis, process).follow(operations)


class Consumer:
    """Where one process is in each key."""

    def __init__(self, analysis: Analysis, process: str) -> None:
        self._analysis = analysis
        self._process = process
        self._positions: dict[str, int] = {}
        self._read_here: set[str] = set()  # keys that the present operation has read

    def follow(self, operations: Iterable[Operation]) -> Iterator[Finding]:
        for operation in operations:
            self._read_here.clear()
            for step in operation.steps:
                if isinstance(step, Assign | Subscribe):
                    self._positions.clear()
                elif isinstance(step, Poll):
                    yield from self._poll(step)

    def _poll(self, poll: Poll) -> Iterator[Finding]:
        if poll.rebalanced:
            self._positions.clear()
        for read in poll.reads:
            yield from self._read(read)
            self._positions[read.key] = read.offset
            self._read_here.add(read.key)

    def _read(self, read: Read) -> Iterator[Finding]:
        before = self._positions.get(read.key)
        if before is None:
            return
        skip, inverted = WITHIN if read.key in self._read_here else BETWEEN
        if read.offset <= before:
            text = f"{self._process} polled offset {read.offset} after {before}"
            yield Finding(inverted, read.key, text)
        elif skipped := self._analysis.orders[read.key].between(before, read.offset):
            text = f"{self._process} polled {read.offset} after {before}, without {skipped[:10]}"
            yield Finding(skip, read.key, text)
