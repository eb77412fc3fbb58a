"""The three indexes of a segment, opened when first needed.

Owns      the files `<base offset>.index .timeindex .txnindex` of one segment.
Promises  a segment that is not read costs no open file. New entries are written in groups, and
          seen at once. An entry that cannot be written is left out of the offset and time index,
          which are sparse anyway; a crash loses those not yet written, and recovery rebuilds them.
Leaves    when to add entries to `segment.py`; the formats to the index modules.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.batch import NO_TIMESTAMP, BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import (
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    segment_file_name,
)
from ottla.storage.indexes.offset_index import OffsetIndex
from ottla.storage.indexes.time_index import ENTRY_BYTES as TIME_ENTRY_BYTES
from ottla.storage.indexes.time_index import TimeIndex, TimestampOffset
from ottla.storage.indexes.transaction_index import TransactionIndex

log = logging.getLogger(__name__)

PENDING_MAX = 64
UNKNOWN_ROOM = 0


class LastEntries(NamedTuple):
    newest: TimestampOffset
    position: int  # in the offset index


class SegmentIndexes:
    __slots__ = (
        "_files",
        "_offsets",
        "_pending",
        "_room",
        "_times",
        "base_offset",
        "transactions",
    )

    def __init__(
        self,
        files: FileSystem,
        directory: str,
        base_offset: int,
        bytes_max: int,
        *,
        create: bool = False,
        state: str = "",
    ) -> None:
        self._files = files
        self.base_offset = base_offset
        self._pending: list[tuple[int, int, int, int]] = []  # not yet in offset and time index
        self._room = UNKNOWN_ROOM
        paths = index_paths(directory, base_offset, state)
        self._offsets = OffsetIndex.open(files, paths[0], base_offset, bytes_max, create=create)
        self._times = TimeIndex.open(files, paths[1], base_offset, bytes_max, create=create)
        self.transactions = TransactionIndex.open(files, paths[2], base_offset)

    @property
    def offsets(self) -> OffsetIndex:
        if self._pending:
            self.write_pending()
        return self._offsets

    @property
    def times(self) -> TimeIndex:
        if self._pending:
            self.write_pending()
        return self._times

    @property
    def is_full(self) -> bool:
        """Whether there is no space for another entry. Rarely reads the files."""
        if self._room <= 0:
            self._room = min(self.offsets.room(BLOCKING), self.times.room(BLOCKING))
        return self._room <= 0

    def add(self, offset: int, position: int, timestamp: int, timestamp_offset: int) -> None:
        """Note the batch with this last offset, and the largest timestamp up to it."""
        try:
            if self._room <= 0 and self.is_full:
                return
        except OSError as error:
            log.warning("%s: without an entry: %s", self._offsets.path, error)
            return
        # Two writes an entry would cost more than that of the batch itself.
        self._pending.append((offset, position, timestamp, timestamp_offset))
        self._room -= 1
        if len(self._pending) >= PENDING_MAX:
            self.write_pending()

    def write_pending(self) -> None:
        pending, self._pending = self._pending, []
        try:
            self._offsets.append_all([(offset, at) for offset, at, _, _ in pending])
            self._times.maybe_append_all([(time, offset) for _, _, time, offset in pending])
        except OSError as error:
            log.warning("%s: without %d entries: %s", self._offsets.path, len(pending), error)

    def finish(self, timestamp: int, timestamp_offset: int) -> None:
        """The segment is closed: its largest timestamp must be the last entry."""
        if timestamp > NO_TIMESTAMP:
            self.times.maybe_append(timestamp, timestamp_offset, even_if_full=True)
        self.offsets.trim()
        self.times.trim()
        self._room = UNKNOWN_ROOM

    def rebuild(
        self, batches: Iterable[tuple[int, BatchHeader]], interval_bytes: int
    ) -> LastEntries:
        """Offset and time index from the records; unchanged if reading these raises."""
        entries, largest = collect_entries(batches, interval_bytes)
        self._pending.clear()
        self._room = UNKNOWN_ROOM
        if not len(entries) and self._says_only(*largest):
            # Cutting and writing files again would cost most of opening a small log.
            newest = TimestampOffset(*largest) if largest[0] != NO_TIMESTAMP else self._times.none
            return LastEntries(newest, 0)
        self._offsets.clear()
        self._times.clear()
        for at in range(0, len(entries), 4):
            self.add(*entries[at : at + 4])
        self.finish(*largest)
        last = self.offsets.last_entry(BLOCKING)
        return LastEntries(self.times.last_entry(BLOCKING), last.position)

    def _says_only(self, timestamp: int, timestamp_offset: int) -> bool:
        """Whether the indexes are those of a segment too small for entries but the last."""
        expected = 0 if timestamp == NO_TIMESTAMP else 1
        time_bytes = self._files.size(self._times.path)  # without opening them
        if self._files.size(self._offsets.path) or time_bytes != expected * TIME_ENTRY_BYTES:
            return False
        try:
            return not expected or self._times.last_entry(BLOCKING) == (timestamp, timestamp_offset)
        except CorruptLogError:
            return False

    def drop_transactions(self) -> None:
        """Replace the index of aborted transactions by an empty one, however damaged it is."""
        path = self.transactions.path
        self.transactions.close()
        if self._files.exists(path):
            self._files.remove(path)
        self.transactions = TransactionIndex.open(self._files, path, self.base_offset)

    def truncate_to(self, offset: int) -> None:
        self.offsets.truncate_to(offset)
        self.times.truncate_to(offset)
        self.transactions.truncate_to(offset)
        self._room = UNKNOWN_ROOM

    def open(self) -> None:
        """Open the files now, in this thread, so that `sync` may run in another."""
        for index in (self.offsets, self.times, self.transactions):
            index.count(BLOCKING)

    def sync(self) -> None:
        self.offsets.sync()
        self.times.sync()
        self.transactions.sync()

    def paths(self) -> list[str]:
        return [self._offsets.path, self._times.path, self.transactions.path]

    def renamed(self, paths: list[str]) -> None:
        """The files now have these names, in the order of `paths`."""
        self._offsets.renamed(paths[0])
        self._times.renamed(paths[1])
        self.transactions.renamed(paths[2])

    def moved(self, old_directory: str, new_directory: str) -> None:
        """The files are in another directory now. A log may have very many segments."""
        at = len(old_directory)
        for index in (self._offsets, self._times, self.transactions):
            index.renamed(new_directory + index.path[at:])

    def close(self) -> None:
        self.offsets.close()
        self.times.close()
        self.transactions.close()


def index_paths(directory: str, base_offset: int, state: str = "") -> list[str]:
    suffixes = (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX)
    return [f"{directory}/{segment_file_name(base_offset, each + state)}" for each in suffixes]


def collect_entries(
    batches: Iterable[tuple[int, BatchHeader]], interval_bytes: int
) -> tuple[array[int], tuple[int, int]]:
    """Flat (offset, position, timestamp, its offset) entries, and the largest timestamp of all."""
    entries = array("q")
    timestamp, timestamp_offset = NO_TIMESTAMP, -1
    indexed_position = end = 0
    for position, header in batches:
        if header.max_timestamp > timestamp:
            timestamp, timestamp_offset = header.max_timestamp, header.last_offset
        # After damage an entry is always needed: a scan cannot reach it from before.
        if position - indexed_position > interval_bytes or position != end:
            entries.extend((header.last_offset, position, timestamp, timestamp_offset))
            indexed_position = position
        end = position + header.size_bytes
    return entries, (timestamp, timestamp_offset)
