"""The time index of a segment: from which offset on a timestamp may be found.

Owns      the file `<base offset>.timeindex`: entries of a timestamp (int64) and offset - base
          offset (int32). An entry says that the largest timestamp up to that offset is this one.
Promises  Kafka's format: timestamps ascend, offsets do not descend; memory and opening cost as
          `entry_file.py` says.
Leaves    when to add an entry, and the scan from the found offset on, to `segment.py`.
Threads   one at a time, except `sync`.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from ottla.base.filesystem import FileSystem
from ottla.storage.errors import CorruptLogError, IndexAppendError, OffsetOverflowError
from ottla.storage.files.entry_file import EntryFile

ENTRY_BYTES = 12
INT32_MAX = 2**31 - 1
NO_TIMESTAMP = -1

_ENTRY = Struct(">qi")
_TIMESTAMP, _OFFSET = 0, 1


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int


class TimeIndex:
    __slots__ = ("_base_offset", "_entries", "_entries_max", "_last")

    def __init__(self, entries: EntryFile, base_offset: int, bytes_max: int) -> None:
        self._entries = entries
        self._base_offset = base_offset
        self._entries_max = bytes_max // ENTRY_BYTES
        self._last: TimestampOffset | None = None  # known since the first use

    @classmethod
    def open(
        cls, files: FileSystem, path: str, base_offset: int, bytes_max: int, *, create: bool = False
    ) -> TimeIndex:
        """An existing index, which is not touched before its first use; or a new, empty one."""
        make = EntryFile.create if create else EntryFile
        return cls(make(files, path, _ENTRY), base_offset, bytes_max)

    @property
    def path(self) -> str:
        return self._entries.path

    @property
    def base_offset(self) -> int:
        return self._base_offset

    @property
    def size_bytes(self) -> int:
        return len(self) * ENTRY_BYTES

    @property
    def file_bytes(self) -> int:
        """The length of the file, with whatever stands behind the last entry."""
        return self._entries.file_bytes

    @property
    def is_full(self) -> bool:
        """One entry is held back for the moment when the segment is closed."""
        self._entries.open()
        return self._entries.count >= self._entries_max - 1

    @property
    def room(self) -> int:
        """How many entries still fit."""
        return self._entries_max - 1 - len(self)

    @property
    def last_entry(self) -> TimestampOffset:
        """The largest timestamp and its offset; NO_TIMESTAMP where there is no entry."""
        if self._last is None:
            self._last = self._entry(len(self) - 1)
        return self._last

    def __len__(self) -> int:
        self._entries.open()
        return self._entries.count

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The last entry at or before `timestamp`, or else NO_TIMESTAMP and the base offset."""
        last = self.last_entry
        if timestamp >= last.timestamp:
            return last
        return self._decode(self._entries.find(_TIMESTAMP, timestamp).entry)

    def maybe_append(self, timestamp: int, offset: int, even_if_full: bool = False) -> None:
        """Add an entry if `timestamp` is a new maximum.

        `even_if_full` is for the last entry of a segment that is being closed.
        """
        last = self._last or self.last_entry
        relative, count = offset - self._base_offset, self._entries.count
        if count >= self._entries_max - 1 and not even_if_full:
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
        """Those of several (timestamp, offset) entries that are new maxima, with one write."""
        last_timestamp, last_offset = self.last_entry
        added: list[tuple[int, int]] = []
        for timestamp, offset in entries:
            if timestamp > last_timestamp:
                if offset < last_offset and len(self) + len(added):
                    raise IndexAppendError(self.path, f"({timestamp}, {offset}) comes too late")
                last_timestamp, last_offset = timestamp, offset
                added.append((timestamp, offset - self._base_offset))
        if len(self) + len(added) > self._entries_max - 1:
            raise IndexAppendError(self.path, f"no room for {len(added)} after {len(self)}")
        if added and not 0 <= added[0][1] <= added[-1][1] <= INT32_MAX:
            raise OffsetOverflowError(self.path, self._base_offset, last_offset)
        if added:
            self._entries.append_all(added)
            self._last = TimestampOffset(last_timestamp, last_offset)

    def truncate_to(self, offset: int) -> None:
        """Forget every entry at or after `offset`."""
        self._entries.truncate(self._entries.find(_OFFSET, offset - self._base_offset - 1).number)
        self._last = None

    def clear(self) -> None:
        self._entries.truncate(0)
        self._last = None

    def check(self) -> None:
        """What is cheap to see: whole entries, and a last one that can be the last."""
        size = self._entries.file_bytes
        if size % ENTRY_BYTES:
            raise CorruptLogError(self.path, size, f"length is no multiple of {ENTRY_BYTES}")
        if not len(self):
            return
        first, last = self._entry(0), self.last_entry
        if last.timestamp < first.timestamp:
            raise CorruptLogError(self.path, self.size_bytes - ENTRY_BYTES, f"last entry is {last}")

    def check_entries(self, end_offset: int) -> None:
        """Read every entry: they ascend, and stay below the `end_offset` of the segment."""
        self.check()
        timestamp, offset = NO_TIMESTAMP, 0
        for number, entry in enumerate(self._entries.iterate()):
            if entry[_TIMESTAMP] <= timestamp or entry[_OFFSET] < offset:
                raise CorruptLogError(
                    self.path, number * ENTRY_BYTES, f"entry {entry} after {(timestamp, offset)}"
                )
            timestamp, offset = entry
            if self._base_offset + offset >= end_offset:
                raise CorruptLogError(
                    self.path, number * ENTRY_BYTES, f"offset beyond the end, {end_offset}"
                )

    def trim(self) -> None:
        """Give back what an active index holds: room in the file, and memory."""
        self._entries.trim()

    def sync(self) -> None:
        self._entries.sync()

    def renamed(self, path: str) -> None:
        self._entries.renamed(path)

    def close(self) -> None:
        self._entries.close()

    def _entry(self, number: int) -> TimestampOffset:
        return self._decode(self._entries.entry(number) if number >= 0 else None)

    def _decode(self, entry: tuple[int, int] | None) -> TimestampOffset:
        if entry is None:
            return TimestampOffset(NO_TIMESTAMP, self._base_offset)
        timestamp, offset = entry
        if offset < 0 or timestamp < 0:
            raise CorruptLogError(self.path, 0, f"entry {entry} has a negative part")
        return TimestampOffset(timestamp, self._base_offset + offset)
