"""The transaction index of a segment: the aborted transactions whose markers are in it.

Owns      the file `<base offset>.txnindex`: entries of version (int16, 0), producer id, first
          offset, last offset (that of the marker) and last stable offset (int64 each). Most
          segments have no aborted transaction, and no such file.
Promises  Kafka's format; nothing is kept in memory but the length and the last entry's offset.
Leaves    walking on to the next segments to `log.py`.
Threads   one at a time, except `sync`.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from ottla.base.files.filesystem import File, FileSystem
from ottla.base.files.readers import BLOCKING, Reader
from ottla.storage.errors import CorruptLogError, IndexAppendError

ENTRY_BYTES = 34
VERSION = 0

_ENTRY = Struct(">hqqqq")
_READ_ENTRIES = 120  # about 4 KiB at a time


class AbortedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int  # of the abort marker
    last_stable_offset: int  # of the partition, once the marker was written


class AbortedSearch(NamedTuple):
    transactions: list[AbortedTransaction]
    is_complete: bool  # False: later segments may hold more


class TransactionIndex:
    __slots__ = ("_base_offset", "_file", "_file_bytes", "_files", "_last_offset", "_path")

    def __init__(self, files: FileSystem, path: str, base_offset: int) -> None:
        self._files = files
        self._path = path
        self._base_offset = base_offset
        self._file: File | None = None
        self._file_bytes = -1  # unknown before the first use
        self._last_offset = -1

    @classmethod
    def open(cls, files: FileSystem, path: str, base_offset: int) -> TransactionIndex:
        """Touches no disk; a file that does not exist is an empty index."""
        return cls(files, path, base_offset)

    @property
    def path(self) -> str:
        return self._path

    def size_bytes(self, reader: Reader) -> int:
        return self.count(reader) * ENTRY_BYTES

    def last_offset(self, reader: Reader) -> int:
        """The last offset of the last aborted transaction, -1 if there is none."""
        self._load(reader)
        return self._last_offset

    def count(self, reader: Reader) -> int:
        """How many entries there are."""
        self._load(reader)
        return self._file_bytes // ENTRY_BYTES

    def iterate(self, reader: Reader, first: int = 0) -> Iterator[AbortedTransaction]:
        """The entries from number `first` on."""
        count = self.count(reader)
        for start in range(first, count, _READ_ENTRIES):
            yield from self._read(reader, start, min(start + _READ_ENTRIES, count))

    def append(self, transaction: AbortedTransaction) -> None:
        if transaction.last_offset <= self.last_offset(BLOCKING):
            raise IndexAppendError(
                self._path, f"{transaction} does not come after offset {self._last_offset}"
            )
        if self._file is None:
            self._file = self._files.open(self._path, create=True)
        position = self.size_bytes(
            BLOCKING
        )  # over half an entry that a failed append may have left
        self._file.write_at(position, _ENTRY.pack(VERSION, *transaction))
        self._file_bytes = position + ENTRY_BYTES
        self._last_offset = transaction.last_offset

    def aborted_between(self, reader: Reader, start_offset: int, end_offset: int) -> AbortedSearch:
        """The transactions that overlap the offsets from `start_offset` up to, not including,
        `end_offset`."""
        found = []
        first = self._count_ending_before(reader, start_offset)
        for transaction in self.iterate(reader, first):
            if transaction.first_offset < end_offset:
                found.append(transaction)
            if transaction.last_stable_offset >= end_offset:
                return AbortedSearch(found, is_complete=True)
        return AbortedSearch(found, is_complete=False)

    def truncate_to(self, offset: int) -> None:
        """Remove every transaction whose marker is at or after `offset`."""
        count = self._count_ending_before(BLOCKING, offset)
        if self._file is not None and count * ENTRY_BYTES != self._file_bytes:
            self._file.truncate(count * ENTRY_BYTES)
            self._forget()

    def clear(self) -> None:
        self._load(BLOCKING)
        if self._file is not None and self._file_bytes:
            self._file.truncate(0)
            self._forget()

    def check(self, reader: Reader) -> None:
        """Read every entry, of which there are few: whole, known, ascending, in this segment."""
        self._load(reader)
        if self._file_bytes % ENTRY_BYTES:
            raise CorruptLogError(
                self._path, self._file_bytes, f"length is no multiple of {ENTRY_BYTES}"
            )
        last_offset = self._base_offset - 1
        for number, entry in enumerate(self.iterate(reader)):
            if entry.last_offset <= last_offset or entry.first_offset > entry.last_offset:
                raise CorruptLogError(
                    self._path, number * ENTRY_BYTES, f"{entry} after offset {last_offset}"
                )
            last_offset = entry.last_offset

    def sync(self) -> None:
        if self._file is not None:
            self._file.sync()

    def renamed(self, path: str) -> None:
        self._path = path
        if self._file is not None:
            self._file.renamed(path)

    def close(self) -> None:
        file, self._file = self._file, None
        self._forget()
        if file is not None:
            file.close()

    def _load(self, reader: Reader) -> None:
        if self._file_bytes >= 0:
            return
        if self._file is None:
            reader.expect(self._files, self._path)
            if self._files.exists(self._path):
                self._file = self._files.open(self._path)
        size = self._file.size() if self._file is not None else 0
        count = size // ENTRY_BYTES
        self._last_offset = self._read(reader, count - 1, count)[0].last_offset if count else -1
        self._file_bytes = size

    def _forget(self) -> None:
        self._file_bytes = -1

    def _count_ending_before(self, reader: Reader, offset: int) -> int:
        """How many entries, from the first on, have a last offset below `offset`."""
        if self.last_offset(reader) < offset:
            return self.count(reader)
        low, high = 0, self.count(reader)
        while low < high:
            middle = (low + high) // 2
            if self._read(reader, middle, middle + 1)[0].last_offset < offset:
                low = middle + 1
            else:
                high = middle
        return low

    def _read(self, reader: Reader, first: int, end: int) -> list[AbortedTransaction]:
        assert self._file is not None, "an index without a file has no entries"
        data = reader.read(self._file, first * ENTRY_BYTES, (end - first) * ENTRY_BYTES)
        if len(data) != (end - first) * ENTRY_BYTES:
            raise CorruptLogError(self._path, first * ENTRY_BYTES, "the file became shorter")
        entries = []
        for number, (version, *fields) in enumerate(_ENTRY.iter_unpack(data), first):
            if version != VERSION:
                raise CorruptLogError(self._path, number * ENTRY_BYTES, f"version {version}")
            entries.append(AbortedTransaction(*fields))
        return entries
