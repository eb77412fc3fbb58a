"""The offset index of a segment: from an offset to a position in the record file.

Owns      the file `<base offset>.index`: entries of offset - base offset (int32) and the position
          of a batch in the log file (int32), both ascending, one about every index.interval.bytes.
Leaves    the file to `segment_index.py`; when to add an entry, and the scan from the found
          position on, to `segment.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from ottla.base.files.readers import BLOCKING, Reader
from ottla.storage.errors import CorruptLogError, IndexAppendError, OffsetOverflowError
from ottla.storage.indexes.segment_index import INT32_MAX, SegmentIndex

ENTRY_BYTES = 8

_OFFSET, _POSITION = 0, 1


class OffsetPosition(NamedTuple):
    offset: int
    position: int


class OffsetIndex(SegmentIndex[OffsetPosition]):
    """Without entries, the last one is the start of the segment."""

    __slots__ = ()

    layout = Struct(">ii")
    offset_column = _OFFSET
    held_back = 0

    def lookup(self, reader: Reader, offset: int) -> OffsetPosition:
        """The last entry at or before `offset`, or else the start of the segment."""
        last = self.last_entry(reader)
        if offset >= last.offset:
            return last
        return self._decode(self._entries.find(reader, _OFFSET, offset - self._base_offset).entry)

    def first_from_position(self, reader: Reader, position: int) -> OffsetPosition | None:
        """The first entry at or after a position of the log file: an offset surely outside of
        what was read up to there."""
        number = self._entries.find(reader, _POSITION, position - 1).number
        return self._entry(reader, number) if number < self.count(reader) else None

    def append(self, offset: int, position: int) -> None:
        """Add an entry: IndexAppendError if full or out of order, OffsetOverflowError if it
        needs more than 31 bits."""
        last = self._last or self.last_entry(BLOCKING)
        relative, count = offset - self._base_offset, self._entries.count
        if count >= self._entries_max:
            raise IndexAppendError(self.path, f"full with {count} entries")
        if count and (offset <= last.offset or position <= last.position):
            raise IndexAppendError(
                self.path, f"offset {offset} at position {position} does not come after {last}"
            )
        if not 0 <= relative <= INT32_MAX:
            raise OffsetOverflowError(self.path, self._base_offset, offset)
        if not 0 <= position <= INT32_MAX:
            raise IndexAppendError(self.path, f"position {position} does not fit")
        self._entries.append(relative, position)
        self._last = OffsetPosition(offset, position)

    def append_all(self, entries: Sequence[tuple[int, int]]) -> None:
        """Several (offset, position) entries with one write, under the rules of `append`."""
        last, base_offset = self.last_entry(BLOCKING), self._base_offset
        count = self.count(BLOCKING)
        if count + len(entries) > self._entries_max:
            raise IndexAppendError(self.path, f"no room for {len(entries)} after {count}")
        last_offset, last_position = last if count else (base_offset - 1, -1)
        for offset, position in entries:
            if offset <= last_offset or position <= last_position:
                raise IndexAppendError(self.path, f"({offset}, {position}) does not come after")
            last_offset, last_position = offset, position
        if not 0 <= entries[0][0] - base_offset <= entries[-1][0] - base_offset <= INT32_MAX:
            raise OffsetOverflowError(self.path, base_offset, entries[-1][0])
        if not 0 <= entries[0][1] <= entries[-1][1] <= INT32_MAX:
            raise IndexAppendError(self.path, f"position {entries[-1][1]} does not fit")
        self._entries.append_all([(offset - base_offset, at) for offset, at in entries])
        self._last = OffsetPosition(last_offset, last_position)

    def check_entries(self, reader: Reader, log_bytes: int) -> None:
        """Read every entry: they ascend, and point into a log file of `log_bytes`."""
        self.check(reader)
        offset, position = -1, -1
        for number, entry in enumerate(self._entries.iterate(reader)):
            if entry[_OFFSET] <= offset or entry[_POSITION] <= position:
                raise CorruptLogError(
                    self.path, number * ENTRY_BYTES, f"entry {entry} after {(offset, position)}"
                )
            offset, position = entry
            if position >= log_bytes:
                raise CorruptLogError(
                    self.path, number * ENTRY_BYTES, f"{position} is outside of {log_bytes} bytes"
                )

    def _decode(self, entry: tuple[int, int] | None) -> OffsetPosition:
        if entry is None:
            return OffsetPosition(self._base_offset, 0)
        offset, position = entry
        if offset < 0 or position < 0:
            raise CorruptLogError(self.path, 0, f"entry {entry} has a negative part")
        return OffsetPosition(self._base_offset + offset, position)
