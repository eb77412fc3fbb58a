"""A file of fixed-size entries in ascending order: the basis of offset and time indexes.

Owns      one file, how many entries it holds, and a short piece of its end in memory.
Promises  opening touches no disk; memory per file is bounded however long it grows; an append is
          one write. A file that Kafka preallocated (zeros after the last entry) reads as if it were
          truncated.
Leaves    the meaning and order of entries to `offset_index.py` and `time_index.py`.
"""

# Ten thousand partitions have a hundred thousand indexes, so nothing else is kept in memory but
# the pages that the last searches have read: a consumer that reads a log from start to end needs
# each of them about five hundred times. Almost every other lookup needs the end of the active
# segment, which is in memory. The rest is read from the page cache: keys grow about evenly, so that
# interpolation usually finds the right page with the first read.

from __future__ import annotations

import sys
import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from ottla.base.files.filesystem import File, FileSystem
from ottla.base.files.readers import BLOCKING, Reader
from ottla.storage.errors import CorruptLogError

PAGE_BYTES = 4096  # read at once by a search
TAIL_BYTES_MAX = 2048  # kept in memory of a file that is being appended to
GUESSES_MAX = 3  # by interpolation; after that a binary search, whose steps are bounded
PAGES_MAX = 256  # found last, one of a file
PAIR_OF_INTS = ">ii"
_COPY_BYTES = 1 << 20

Entry = tuple[int, int]


class FoundEntry(NamedTuple):
    number: int  # how many entries there are up to this one, itself included
    entry: Entry | None


class _Page:
    """Neighbouring entries, which stay as they are until the file is cut."""

    __slots__ = ("_columns", "data", "first")

    def __init__(self, first: int, data: bytes) -> None:
        self.first = first
        self.data = data
        self._columns: dict[int, array[int]] = {}  # of those searched more than once

    def column_of_ints(self, column: int) -> array[int]:
        """One column of big-endian pairs."""
        known = self._columns.get(column)
        if known is None:
            ints = array("i", self.data)
            if sys.byteorder == "little":
                ints.byteswap()
            known = self._columns[column] = ints[column::2]
        return known


class _RecentPages:
    """The page that a search found last, of the files that were searched last. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: dict[EntryFile, _Page] = {}  # the oldest first
        self.of = self._pages.get

    def keep(self, file: EntryFile, page: _Page) -> None:
        with self._lock:
            self._pages.pop(file, None)
            self._pages[file] = page
            if len(self._pages) > PAGES_MAX:
                del self._pages[next(iter(self._pages))]

    def drop(self, file: EntryFile) -> None:
        with self._lock:
            self._pages.pop(file, None)


_pages = _RecentPages()


class EntryFile:
    __slots__ = (
        "_ends",
        "_entry",
        "_file",
        "_file_bytes",
        "_files",
        "_path",
        "_tail",
        "_tail_first",
        "count",
    )

    def __init__(self, files: FileSystem, path: str, entry: Struct) -> None:
        self.count = 0  # of entries; known once the file was opened
        self._files = files
        self._path = path
        self._entry = entry
        self._file: File | None = None  # opened at the first use
        self._file_bytes = 0
        self._tail = bytearray()  # the last entries, all of them also in the file
        self._tail_first = 0  # the number of its first entry
        self._ends: tuple[int, Entry, Entry] | None = None

    @classmethod
    def create(cls, files: FileSystem, path: str, entry: Struct) -> EntryFile:
        """An empty file, whatever was there before."""
        created = cls(files, path, entry)
        created._file = files.open(path, create=True)
        if created._file.size():
            created._file.truncate(0)
        return created

    @property
    def path(self) -> str:
        return self._path

    def file_bytes(self, reader: Reader) -> int:
        """The length of the file, including bytes after the last entry."""
        self.open(reader)
        return self._file_bytes

    def open(self, reader: Reader) -> File:
        """Open the file, unless it is open already."""
        if self._file is None:
            file = reader.open(self._files, self._path)
            try:
                self._file_bytes = file.size()
                self.count = _count_entries(reader, file, self._file_bytes, self._entry.size)
            except BaseException:
                file.close()
                raise
            self._file = file
        return self._file

    def entry(self, reader: Reader, number: int) -> Entry:
        if self._tail and number >= self._tail_first:
            position = (number - self._tail_first) * self._entry.size
            return self._entry.unpack_from(self._tail, position)
        return self._entry.unpack(self.read(reader, number, number + 1))

    def read(self, reader: Reader, first: int, end: int) -> bytes:
        """The bytes of the entries from `first` up to, and not including, `end`."""
        size = self._entry.size
        file = self._file or self.open(reader)
        data = reader.read(file, first * size, (end - first) * size)
        if len(data) != (end - first) * size:
            raise CorruptLogError(self._path, first * size + len(data), "the file became shorter")
        return data

    def iterate(self, reader: Reader) -> Iterator[Entry]:
        """Every entry, read in pieces."""
        self.open(reader)
        step = _COPY_BYTES // self._entry.size
        for first in range(0, self.count, step):
            data = self.read(reader, first, min(first + step, self.count))
            yield from self._entry.iter_unpack(data)

    def append(self, *values: int) -> None:
        file = self._file or self.open(BLOCKING)
        data = self._entry.pack(*values)
        position = self.count * len(data)
        try:
            file.write_at(position, data)
        except OSError:
            self._file_bytes += len(data)  # possibly with a part of an entry, to be truncated
            raise
        self._remember(data)
        self.count += 1
        self._file_bytes = max(self._file_bytes, position + len(data))

    def append_all(self, entries: Sequence[Entry]) -> None:
        """Several entries with one write."""
        file = self._file or self.open(BLOCKING)
        pack, size = self._entry.pack, self._entry.size
        data = b"".join([pack(*entry) for entry in entries])
        position = self.count * size
        try:
            file.write_at(position, data)
        except OSError:
            self._file_bytes += len(data)  # possibly a part of them, to be truncated
            raise
        self._remember(data)
        self.count += len(entries)
        self._file_bytes = max(self._file_bytes, position + len(data))

    def find(self, reader: Reader, column: int, value: int) -> FoundEntry:
        """The last entry with at most `value` in a column by which entries ascend."""
        self.open(reader)
        if self._tail and self._entry.unpack_from(self._tail)[column] <= value:
            return self._find_in(reader, self._tail, self._tail_first, column, value)
        end = self._tail_first if self._tail else self.count
        return self._search(reader, column, value, end) if end else FoundEntry(0, None)

    def truncate(self, count: int) -> None:
        """Keep the first `count` entries, and cut the file there."""
        file = self.open(BLOCKING)
        if count > self.count:
            raise ValueError(f"{self._path}: cannot keep {count} of {self.count} entries")
        self.count = count
        self._ends = None
        _pages.drop(self)
        del self._tail[max(0, count - self._tail_first) * self._entry.size :]
        self._cut(file)

    def trim(self) -> None:
        """Truncate the file after the last entry, and keep nothing in memory."""
        self._tail.clear()
        self._cut(self.open(BLOCKING))

    def sync(self) -> None:
        self.open(BLOCKING).sync()

    def renamed(self, path: str) -> None:
        self._path = path
        if self._file is not None:
            self._file.renamed(path)

    def close(self) -> None:
        """Trim and close. A file that was never used is left as it is."""
        if self._file is None:
            return
        file, self._file = self._file, None
        try:
            self._cut(file)
        finally:
            self._tail.clear()
            _pages.drop(self)
            file.close()

    def _cut(self, file: File) -> None:
        wanted = self.count * self._entry.size
        if self._file_bytes != wanted:
            file.truncate(wanted)
            self._file_bytes = wanted

    def _remember(self, data: bytes) -> None:
        if not self._tail:
            self._tail_first = self.count
        elif len(self._tail) + len(data) > TAIL_BYTES_MAX:
            dropped = min(TAIL_BYTES_MAX // 2, len(self._tail)) // self._entry.size
            del self._tail[: dropped * self._entry.size]
            self._tail_first += dropped
        self._tail += data

    def _search(self, reader: Reader, column: int, value: int, end: int) -> FoundEntry:
        """As `find`, among the first `end` entries of the file."""
        unpack, size = self._entry.unpack_from, self._entry.size
        last = _pages.of(self)
        if last is not None:
            found = self._find_within(reader, last, column, value)
            if found is not None:
                return found
        page = PAGE_BYTES // size
        low, high = 0, end  # bounds of the number of entries up to `value`
        low_key, high_key = self._guess_ends(reader, column, end) if end > page else (0, 0)
        guesses = GUESSES_MAX
        while high - low > page:
            middle = (low + high) // 2
            if guesses and low_key < high_key:
                middle = low + (high - low) * (value - low_key) // (high_key - low_key)
                guesses -= 1
            first = min(max(middle - page // 2, low), high - page)
            data = self.read(reader, first, first + page)
            if (key := unpack(data)[column]) > value:
                high, high_key = first, key
            elif (key := unpack(data, len(data) - size)[column]) <= value:
                low, low_key = first + page, key
            else:
                _pages.keep(self, _Page(first, data))
                return self._find_in(reader, data, first, column, value)
        data = self.read(reader, low, high)
        if data:
            _pages.keep(self, _Page(low, data))
        return self._find_in(reader, data, low, column, value)

    def _find_within(
        self, reader: Reader, page: _Page, column: int, value: int
    ) -> FoundEntry | None:
        """None unless the last entry up to `value` is surely one of these, or there is none."""
        unpack, size, data = self._entry.unpack_from, self._entry.size, page.data
        if self._entry.format != PAIR_OF_INTS:
            is_behind = value >= unpack(data, len(data) - size)[column]
            if is_behind or (page.first and unpack(data)[column] > value):
                return None
            return self._find_in(reader, data, page.first, column, value)
        keys = page.column_of_ints(column)
        if value >= keys[-1] or (page.first and keys[0] > value):
            return None
        count = bisect_right(keys, value)
        return FoundEntry(page.first + count, unpack(data, (count - 1) * size) if count else None)

    def _guess_ends(self, reader: Reader, column: int, end: int) -> tuple[int, int]:
        """The keys of the first and the last entry, which stay what they are in a closed file."""
        if self._ends is None or self._ends[0] != end:
            self._ends = end, self.entry(reader, 0), self.entry(reader, end - 1)
        return self._ends[1][column], self._ends[2][column]

    def _find_in(
        self, reader: Reader, data: bytes | bytearray, first: int, column: int, value: int
    ) -> FoundEntry:
        """As `find`, in entries from number `first` on, before which all are up to `value`."""
        size, unpack = self._entry.size, self._entry.unpack_from
        numbers = range(len(data) // size)
        count = bisect_right(numbers, value, key=lambda at: unpack(data, at * size)[column])
        if count:
            return FoundEntry(first + count, unpack(data, (count - 1) * size))
        return FoundEntry(first, self.entry(reader, first - 1) if first else None)


def _count_entries(reader: Reader, file: File, file_bytes: int, entry_bytes: int) -> int:
    """How many entries are before the zeros that Kafka preallocates.

    A single zero entry is one (timestamp 0 at the base offset); among several, zeros at the end
    cannot be: entries ascend. A Kafka that cut its log before it was killed leaves the entries it
    cut before the zeros: one more reason to rebuild indexes after an unclean stop.
    """
    count = file_bytes // entry_bytes

    def is_zero(number: int) -> bool:
        return not any(reader.read(file, number * entry_bytes, entry_bytes))

    if count <= 1 or not is_zero(count - 1):
        return count
    return bisect_right(range(count), False, key=is_zero)
