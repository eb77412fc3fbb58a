"""The time index of a segment: from which offset on a timestamp may be found.

Owns      the file `<base offset>.timeindex`: entries of a timestamp (int64) and offset - base
          offset (int32). An entry says that the largest timestamp up to that offset is this one.
Promises  timestamps ascend, offsets do not descend.
Leaves    the file to `segment_index.py`; when to add an entry, and the scan from the found offset
          on, to `segment.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from ottla.base.files.readers import BLOCKING, Reader
from ottla.protocol.records.batch import NO_TIMESTAMP
from ottla.storage.errors import CorruptLogError, IndexAppendError, OffsetOverflowError
from ottla.storage.indexes.segment_index import INT32_MAX, SegmentIndex

ENTRY_BYTES = 12

_TIMESTAMP, _OFFSET = 0, 1


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int


class TimeIndex(SegmentIndex[TimestampOffset]):
    """Without entries, the last one is NO_TIMESTAMP and the base offset."""

    __slots__ = ()

    layout = Struct(">qi")
    offset_column = _OFFSET
    held_back = 1  # for the moment when the segment is closed

    @property
    def none(self) -> TimestampOffset:
        """The last entry without entries."""
        return self._decode(None)

    def lookup(self, reader: Reader, timestamp: int) -> TimestampOffset:
        """The last entry at or before `timestamp`, or else NO_TIMESTAMP and the base offset."""
        last = self.last_entry(reader)
        if timestamp >= last.timestamp:
            return last
        return self._decode(self._entries.find(reader, _TIMESTAMP, timestamp).entry)

    def maybe_append(self, timestamp: int, offset: int, even_if_full: bool = False) -> None:
        """Add an entry if `timestamp` is a new maximum.

        `even_if_full` is for the last entry of a segment that is being closed.
        """
        last = self._last or self.last_entry(BLOCKING)
        relative, count = offset - self._base_offset, self._entries.count
        if count >= self._entries_max and not even_if_full:
            raise IndexAppendError(self.path, f"full with {count} entries")
        if count and (offset < last.offset or timestamp < last.timestamp):
            raise IndexAppendError(
                self.path, f"timestamp {timestamp} of offset {offset} comes before {last}"
            )
        if timestamp <= last.timestamp:
            return
        if not 0 <= relative <= INT32_MAX:
            raise OffsetOverflowError(self.path, self._base_offset, offset)
        self._entries.append(timestamp, relative)
        self._last = TimestampOffset(timestamp, offset)

    def maybe_append_all(self, entries: Sequence[tuple[int, int]]) -> None:
        """Add the (timestamp, offset) entries that are new maxima, with one write."""
        last_timestamp, last_offset = self.last_entry(BLOCKING)
        count = self.count(BLOCKING)
        added: list[tuple[int, int]] = []
        for timestamp, offset in entries:
            if timestamp > last_timestamp:
                if offset < last_offset and count + len(added):
                    raise IndexAppendError(self.path, f"({timestamp}, {offset}) comes too late")
                last_timestamp, last_offset = timestamp, offset
                added.append((timestamp, offset - self._base_offset))
        if count + len(added) > self._entries_max:
            raise IndexAppendError(self.path, f"no room for {len(added)} after {count}")
        if added and not 0 <= added[0][1] <= added[-1][1] <= INT32_MAX:
            raise OffsetOverflowError(self.path, self._base_offset, last_offset)
        if added:
            self._entries.append_all(added)
            self._last = TimestampOffset(last_timestamp, last_offset)

    def check(self, reader: Reader) -> None:
        super().check(reader)
        if not self.count(reader):
            return
        first, last = self._entry(reader, 0), self.last_entry(reader)
        if last.timestamp < first.timestamp:
            position = self.size_bytes(reader) - ENTRY_BYTES
            raise CorruptLogError(self.path, position, f"last entry is {last}")

    def check_entries(self, reader: Reader, end_offset: int) -> None:
        """Read every entry: they ascend, and stay below the `end_offset` of the segment."""
        self.check(reader)
        timestamp, offset = NO_TIMESTAMP, 0
        for number, entry in enumerate(self._entries.iterate(reader)):
            if entry[_TIMESTAMP] <= timestamp or entry[_OFFSET] < offset:
                raise CorruptLogError(
                    self.path, number * ENTRY_BYTES, f"entry {entry} after {(timestamp, offset)}"
                )
            timestamp, offset = entry
            if self._base_offset + offset >= end_offset:
                raise CorruptLogError(
                    self.path, number * ENTRY_BYTES, f"offset beyond the end, {end_offset}"
                )

    def _decode(self, entry: tuple[int, int] | None) -> TimestampOffset:
        if entry is None:
            return TimestampOffset(NO_TIMESTAMP, self._base_offset)
        timestamp, offset = entry
        if offset < 0 or timestamp < 0:
            raise CorruptLogError(self.path, 0, f"entry {entry} has a negative part")
        return TimestampOffset(timestamp, self._base_offset + offset)
