"""The last records of partitions, however many offsets lie between them.

Markers of transactions, aborted records and what compaction has removed take offsets too, so where
the last N records begin cannot be told from offsets. A partition is read from its end backwards, in
stretches that double in length, until N records were found or its start is reached.

Promises  about twice as many offsets are read as have to be, and N records are kept a partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from ottla.cli.filters import Wanted
from ottla.cli.offsets import Place
from ottla.cli.records import Record

# All records of the partitions, from the first offset up to the second; None is the end.
Ranges = Mapping[Place, tuple[int, int | None]]
Read = Callable[[Ranges], Iterable[list[Record]]]


class LookBack:
    """One partition: what was found behind `start`, and how much further back to look next."""

    def __init__(self, first_offset: int, end_offset: int, count: int) -> None:
        self._first_offset = first_offset
        self._count = count
        self._length = max(1, count)
        self._end: int | None = None  # of the stretch; records that came since are welcome too
        self.start = max(first_offset, end_offset - self._length)
        self._found: list[Record] = []
        self._stretch: deque[Record] = deque(maxlen=count)

    @property
    def stretch(self) -> tuple[int, int | None]:
        return self.start, self._end

    def add(self, record: Record) -> None:
        self._stretch.append(record)

    def go_back(self) -> bool:
        """The stretch was read: keep what counts, and move to the one before if there is need."""
        missing = self._count - len(self._found)
        newest = list(self._stretch)[max(0, len(self._stretch) - missing) :]
        self._found = newest + self._found
        self._stretch.clear()
        self._end = self.start
        self._length *= 2
        self.start = max(self._first_offset, self._end - self._length)
        return len(self._found) < self._count and self.start < self._end

    @property
    def records(self) -> list[Record]:
        return self._found


def last_records(
    read: Read, offsets: Mapping[Place, tuple[int, int]], wanted: Wanted, count: int
) -> list[Record]:
    """The newest by time, over all partitions; within a partition its own order stays."""
    partitions = {place: LookBack(*ends, count) for place, ends in offsets.items()}
    unread = partitions if count else {}
    while unread:
        stretches = {place: each.stretch for place, each in unread.items()}
        for record in chain.from_iterable(read(stretches)):
            if wanted(record):
                unread[record.topic, record.partition].add(record)
        unread = {place: each for place, each in unread.items() if each.go_back()}
    found = sorted(
        chain.from_iterable(each.records for each in partitions.values()),
        key=lambda record: (record.timestamp_ms, record.topic, record.partition),
    )
    return found[max(0, len(found) - count) :]
