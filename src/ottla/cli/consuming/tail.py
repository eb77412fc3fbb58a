"""The last N records of partitions, even if there are gaps between their offsets.

Transaction markers, aborted records and compacted records have offsets too, so the position of the
last N records cannot be computed from offsets. A partition is read backwards from its end, in
ranges of doubling length, until N records are found or the start is reached.

Promises  reads about twice as many offsets as necessary; keeps at most N records per partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from ottla.base.ids import TopicPartition
from ottla.cli.records.filters import RecordFilter
from ottla.cli.records.record import TopicRecord

# All records of the partitions, from the first offset up to, and not including, the second.
Ranges = Mapping[TopicPartition, tuple[int, int]]
Read = Callable[[Ranges], Iterable[list[TopicRecord]]]


class BackwardScan:
    """One partition: the records found at or after `start`, and the next range to read."""

    def __init__(self, first_offset: int, end_offset: int, count: int) -> None:
        self._first_offset = first_offset
        self._count = count
        self._length = max(1, count)
        self._end = end_offset
        self.start = max(first_offset, end_offset - self._length)
        self._found: list[TopicRecord] = []
        self._range_records: deque[TopicRecord] = deque(maxlen=count)

    @property
    def range(self) -> tuple[int, int]:
        return self.start, self._end

    def add(self, record: TopicRecord) -> None:
        self._range_records.append(record)

    def extend(self) -> bool:
        """Keep the newest records of the range just read. True if an earlier range must be read."""
        missing = self._count - len(self._found)
        newest = list(self._range_records)[max(0, len(self._range_records) - missing) :]
        self._found = newest + self._found
        self._range_records.clear()
        self._end = self.start
        self._length *= 2
        self.start = max(self._first_offset, self._end - self._length)
        return len(self._found) < self._count and self.start < self._end

    @property
    def records(self) -> list[TopicRecord]:
        return self._found


def last_records(
    read: Read, offsets: Mapping[TopicPartition, tuple[int, int]], wanted: RecordFilter, count: int
) -> list[TopicRecord]:
    """The newest by timestamp of all partitions, each partition in its own order."""
    scans = {partition: BackwardScan(*ends, count) for partition, ends in offsets.items()}
    unread = scans if count else {}
    while unread:
        ranges = {partition: each.range for partition, each in unread.items()}
        for record in chain.from_iterable(read(ranges)):
            if wanted(record):
                unread[TopicPartition(record.topic, record.partition)].add(record)
        unread = {partition: each for partition, each in unread.items() if each.extend()}
    found = sorted(
        chain.from_iterable(each.records for each in scans.values()),
        key=lambda record: (record.timestamp_ms, record.topic, record.partition),
    )
    return found[max(0, len(found) - count) :]
