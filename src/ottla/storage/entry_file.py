"""A file of fixed-size entries in ascending order: what offset and time indexes have in common.

Owns      one file, how many entries it holds, and a short piece of its end in memory.
Promises  opening touches no disk; memory per file is bounded however long it grows; an append is
          one write. A file that Kafka preallocated (zeros behind the last entry) reads as if cut.
Leaves    the meaning and order of entries to `offset_index.py` and `time_index.py`.
"""

# Closed segments keep nothing in memory: a search is some reads of one entry, then one of a page,
# all from the kernel's page cache. Almost every look-up wants the end of the active segment, and
# that part is here in memory.

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from struct import Struct
from typing import Any

from ottla.base.filesystem import File, FileSystem
from ottla.storage.errors import CorruptLogError

PAGE_BYTES = 4096  # searched in memory, after one read
TAIL_BYTES_MAX = 2048  # kept in memory of a file that is being appended to
_COPY_BYTES = 1 << 20


class EntryFile:
    def __init__(self, files: FileSystem, path: str, entry: Struct) -> None:
        self._files = files
        self._path = path
        self._entry = entry
        self._file: File | None = None  # opened at the first use
        self._count = 0
        self._file_bytes = 0
        self._tail = bytearray()  # the last entries, all of them also in the file
        self._tail_first = 0

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

    @property
    def file_bytes(self) -> int:
        """The length of the file, with whatever stands behind the last entry."""
        self._opened()
        return self._file_bytes

    def __len__(self) -> int:
        self._opened()
        return self._count

    def entry(self, number: int) -> tuple[Any, ...]:
        if number >= self._tail_first and self._tail:
            return self._entry.unpack_from(
                self._tail, (number - self._tail_first) * self._entry.size
            )
        return self._entry.unpack(self.read(number, number + 1))

    def read(self, first: int, end: int) -> bytes:
        """The bytes of the entries from `first` up to, and not including, `end`."""
        size = self._entry.size
        data = self._opened().read_at(first * size, (end - first) * size)
        if len(data) != (end - first) * size:
            raise CorruptLogError(self._path, first * size + len(data), "the file became shorter")
        return data

    def iterate(self) -> Iterator[tuple[Any, ...]]:
        """Every entry, read in pieces."""
        count, step = len(self), _COPY_BYTES // self._entry.size
        for first in range(0, count, step):
            yield from self._entry.iter_unpack(self.read(first, min(first + step, count)))

    def append(self, *values: int) -> None:
        file = self._opened()
        data = self._entry.pack(*values)
        try:
            file.write_at(self._count * self._entry.size, data)
        except OSError:
            self._file_bytes += self._entry.size  # perhaps half an entry more: to be cut off
            raise
        self._remember(data)
        self._count += 1
        self._file_bytes = max(self._file_bytes, self._count * self._entry.size)

    def count_up_to(self, column: int, value: int) -> int:
        """How many entries have at most `value` in a column by which they ascend."""
        self._opened()
        unpack = self._entry.unpack_from
        if self._tail and unpack(self._tail, 0)[column] <= value:
            return self._tail_first + self._count_in(self._tail, column, value)
        low, high = 0, self._tail_first if self._tail else self._count
        page = PAGE_BYTES // self._entry.size
        while high - low > page:
            middle = (low + high) // 2
            if self.entry(middle)[column] <= value:
                low = middle + 1
            else:
                high = middle
        return low + self._count_in(self.read(low, high), column, value) if low < high else low

    def truncate(self, count: int) -> None:
        """Keep the first `count` entries, and cut the file there."""
        file = self._opened()
        if count > self._count:
            raise ValueError(f"{self._path}: cannot keep {count} of {self._count} entries")
        self._count = count
        if self._tail:
            del self._tail[max(0, count - self._tail_first) * self._entry.size :]
        self._cut(file)

    def trim(self) -> None:
        """Cut off what stands behind the last entry, and keep nothing in memory."""
        self._tail.clear()
        self._cut(self._opened())

    def sync(self) -> None:
        self._opened().sync()

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
            file.close()

    def _opened(self) -> File:
        if self._file is None:
            file = self._files.open(self._path)
            self._file_bytes = file.size()
            self._count = _count_entries(file, self._file_bytes, self._entry.size)
            self._file = file
        return self._file

    def _cut(self, file: File) -> None:
        wanted = self._count * self._entry.size
        if self._file_bytes != wanted:
            file.truncate(wanted)
            self._file_bytes = wanted

    def _remember(self, data: bytes) -> None:
        if not self._tail:
            self._tail_first = self._count
        elif len(self._tail) >= TAIL_BYTES_MAX:
            dropped = TAIL_BYTES_MAX // 2 // self._entry.size
            del self._tail[: dropped * self._entry.size]
            self._tail_first += dropped
        self._tail += data

    def _count_in(self, data: bytes | bytearray, column: int, value: int) -> int:
        size, unpack = self._entry.size, self._entry.unpack_from
        return bisect_right(
            range(len(data) // size), value, key=lambda number: unpack(data, number * size)[column]
        )


def _count_entries(file: File, file_bytes: int, entry_bytes: int) -> int:
    """How many entries stand before the zeros that Kafka preallocates.

    A single zero entry is one (timestamp 0 at the base offset); among several, zeros at the end
    cannot be: entries ascend.
    """
    count = file_bytes // entry_bytes
    if count <= 1 or any(file.read_at((count - 1) * entry_bytes, entry_bytes)):
        return count
    return bisect_right(
        range(count),
        False,
        key=lambda number: not any(file.read_at(number * entry_bytes, entry_bytes)),
    )
