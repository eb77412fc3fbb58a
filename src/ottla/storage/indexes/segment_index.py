"""What the offset index and the time index of a segment have in common: a file of ascending pairs.

Owns      the file, how many entries may be in it, and the last one of them in memory.
Promises  Kafka's format; memory and opening cost as `entry_file.py` says.
Leaves    what an entry says, the rules for the next one, and searching to `offset_index.py` and
          `time_index.py`.
Threads   one at a time, except `sync`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from struct import Struct
from typing import ClassVar, Generic, Self, TypeVar

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import BLOCKING, Reader
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.entry_file import EntryFile

E = TypeVar("E", bound=tuple[int, int])  # an entry with the absolute offset
INT32_MAX = 2**31 - 1


class SegmentIndex(ABC, Generic[E]):
    __slots__ = ("_base_offset", "_entries", "_entries_max", "_last")

    layout: ClassVar[Struct]
    offset_column: ClassVar[int]  # offsets are kept as the distance to the base offset
    held_back: ClassVar[int]  # entries for which there is room at the very end only

    def __init__(self, entries: EntryFile, base_offset: int, bytes_max: int) -> None:
        self._entries = entries
        self._base_offset = base_offset
        self._entries_max = bytes_max // self.layout.size - self.held_back
        self._last: E | None = None  # known since the first use

    @classmethod
    def open(
        cls, files: FileSystem, path: str, base_offset: int, bytes_max: int, *, create: bool = False
    ) -> Self:
        """An existing index, which is not touched before its first use; or a new, empty one."""
        make = EntryFile.create if create else EntryFile
        return cls(make(files, path, cls.layout), base_offset, bytes_max)

    @property
    def path(self) -> str:
        return self._entries.path

    @property
    def base_offset(self) -> int:
        return self._base_offset

    def size_bytes(self, reader: Reader) -> int:
        return self.count(reader) * self.layout.size

    def file_bytes(self, reader: Reader) -> int:
        """The length of the file, including bytes after the last entry."""
        return self._entries.file_bytes(reader)

    def is_full(self, reader: Reader) -> bool:
        return self.count(reader) >= self._entries_max

    def room(self, reader: Reader) -> int:
        """How many entries still fit."""
        return self._entries_max - self.count(reader)

    def last_entry(self, reader: Reader) -> E:
        """The last entry, or what `_decode` makes of none."""
        if self._last is None:
            self._last = self._entry(reader, self.count(reader) - 1)
        return self._last

    def count(self, reader: Reader) -> int:
        """How many entries there are."""
        self._entries.open(reader)
        return self._entries.count

    def truncate_to(self, offset: int) -> None:
        """Remove every entry at or after `offset`."""
        before = offset - self._base_offset - 1
        self._entries.truncate(self._entries.find(BLOCKING, self.offset_column, before).number)
        self._last = None

    def clear(self) -> None:
        self._entries.truncate(0)
        self._last = None

    def check(self, reader: Reader) -> None:
        """Quick checks: only whole entries, and a plausible last one."""
        size = self._entries.file_bytes(reader)
        if size % self.layout.size:
            raise CorruptLogError(self.path, size, f"length is no multiple of {self.layout.size}")
        self.last_entry(reader)  # raises if it has a negative part

    def trim(self) -> None:
        """Release what an active index holds: space in the file, and memory."""
        self._entries.trim()

    def sync(self) -> None:
        self._entries.sync()

    def renamed(self, path: str) -> None:
        self._entries.renamed(path)

    def close(self) -> None:
        self._entries.close()

    def _entry(self, reader: Reader, number: int) -> E:
        return self._decode(self._entries.entry(reader, number) if number >= 0 else None)

    @abstractmethod
    def _decode(self, entry: tuple[int, int] | None) -> E:
        """An entry of the file, or the default if there is none."""
