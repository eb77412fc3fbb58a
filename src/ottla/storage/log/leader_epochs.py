"""Which leader epoch begins at which offset: replicas compare them to agree on their logs.

Owns      the file `leader-epoch-checkpoint` of a partition: lines of epoch and start offset, both
          ascending.
Promises  `assign` writes a new epoch durably before it returns. `announce` and truncating change
          memory only, and leave the file as it is until `write`: opening a log drops epochs
          without records, and truncates again.
Leaves    asking the leader until two replicas agree (KIP-101, KIP-279) to replication.
Threads   one at a time, except `write`.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import Reader
from ottla.storage.files.checkpoint_file import Line, read_checkpoint, write_checkpoint
from ottla.storage.files.file_names import OFFSET_MAX

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1
EPOCH_MAX = 2**31 - 1


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


class EpochEndOffset(NamedTuple):
    epoch: int
    end_offset: int


UNDEFINED = EpochEndOffset(UNDEFINED_EPOCH, UNDEFINED_OFFSET)


class LeaderEpochs:
    def __init__(self, files: FileSystem, path: str, entries: Iterable[EpochEntry] = ()) -> None:
        self._files = files
        self._path = path
        self._entries = list(entries)
        self._is_dirty = False
        self._lacks_entry = False  # announced, and not written
        self._write_lock = threading.Lock()  # so that an older content never replaces a newer

    @classmethod
    def open(cls, reader: Reader, files: FileSystem, path: str) -> LeaderEpochs:
        """Read from the file; empty if there is none. CorruptLogError if it is damaged."""
        try:
            lines = read_checkpoint(reader, files, path)
        except FileNotFoundError:
            return cls(files, path)
        return cls(files, path, _parse_all(lines))

    @property
    def path(self) -> str:
        return self._path

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        return tuple(self._entries)

    @property
    def latest_epoch(self) -> int | None:
        return self._entries[-1].epoch if self._entries else None

    @property
    def latest_entry(self) -> EpochEntry | None:
        return self._entries[-1] if self._entries else None

    @property
    def is_dirty(self) -> bool:
        """Whether the file has entries that were truncated since."""
        return self._is_dirty

    @property
    def is_written(self) -> bool:
        """Whether the file is up to date."""
        return not self._is_dirty and not self._lacks_entry

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Note that `epoch` begins at `start_offset`; whether it is new.

        Entries that contradict it (a later epoch, or a later start) are dropped: they are of a
        leader whose records were lost.
        """
        is_new = self._put(EpochEntry(epoch, start_offset))
        if is_new or self._lacks_entry:
            self.write()
        return is_new

    def assign_all(self, entries: Iterable[EpochEntry]) -> None:
        """As `assign` for each, with one write."""
        changes = [self._put(entry) for entry in entries]
        if any(changes) or self._lacks_entry:
            self.write()

    def announce(self, epoch: int, start_offset: int) -> None:
        """As `assign`, but in memory only until `write`: recovery finds the epoch in the records.

        A broker that starts becomes the leader of thousands of partitions, and few get records
        soon.
        """
        if self._put(EpochEntry(epoch, start_offset)):
            self._lacks_entry = True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEndOffset:
        """Where the records of `epoch` end: the largest epoch up to it that has records, and the
        start of the next one. UNDEFINED if `epoch` is later than all entries."""
        if epoch == UNDEFINED_EPOCH or not self._entries:
            return UNDEFINED
        if epoch == self._entries[-1].epoch:
            return EpochEndOffset(epoch, log_end_offset)
        following = bisect_right(self._entries, epoch, key=lambda entry: entry.epoch)
        if following == len(self._entries):
            return UNDEFINED
        # Older than all entries: the replica that asks continues at the first epoch.
        found = self._entries[following - 1].epoch if following else epoch
        return EpochEndOffset(found, self._entries[following].start_offset)

    def epoch_for_offset(self, offset: int) -> int | None:
        """The epoch in which the record at `offset` was written."""
        number = bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
        return self._entries[number - 1].epoch if number else None

    def truncate_from_end(self, end_offset: int) -> None:
        """Remove the epochs that start at or after `end_offset`."""
        kept = len(self._entries)
        while kept and self._entries[kept - 1].start_offset >= end_offset:
            kept -= 1
        if kept != len(self._entries):
            del self._entries[kept:]
            self._is_dirty = True

    def truncate_from_start(self, start_offset: int) -> None:
        """Remove the epochs that end at or before `start_offset`; the first that is left starts
        there, unless it starts later."""
        passed = bisect_right(self._entries, start_offset, key=lambda entry: entry.start_offset)
        if not passed:
            return
        first = EpochEntry(self._entries[passed - 1].epoch, start_offset)
        if passed > 1 or self._entries[0] != first:
            self._entries[:passed] = [first]
            self._is_dirty = True

    def clear(self) -> None:
        """Remove all entries, durably."""
        self._entries.clear()
        self.write()

    def write(self) -> None:
        """Replace the file by what is in memory, durably."""
        with self._write_lock:
            self._is_dirty = self._lacks_entry = False
            try:
                write_checkpoint(self._files, self._path, map(_format, tuple(self._entries)))
            except BaseException:
                self._is_dirty = self._lacks_entry = True
                raise

    def renamed(self, path: str) -> None:
        self._path = path

    def _put(self, entry: EpochEntry) -> bool:
        if not (0 <= entry.epoch <= EPOCH_MAX and 0 <= entry.start_offset <= OFFSET_MAX):
            raise ValueError(f"{self._path}: invalid leader epoch: {entry}")
        latest = self.latest_entry
        if latest and entry.epoch == latest.epoch and entry.start_offset >= latest.start_offset:
            return False
        while self._entries and (
            self._entries[-1].epoch >= entry.epoch
            or self._entries[-1].start_offset >= entry.start_offset
        ):
            self._entries.pop()
        self._entries.append(entry)
        return True


def _format(entry: EpochEntry) -> str:
    return f"{entry.epoch} {entry.start_offset}"


def _parse_all(lines: list[Line]) -> list[EpochEntry]:
    entries: list[EpochEntry] = []
    for line in lines:
        epoch_field, offset_field = line.fields(2)
        entry = EpochEntry(
            line.integer(epoch_field, EPOCH_MAX), line.integer(offset_field, OFFSET_MAX)
        )
        if entry.epoch < 0 or entry.start_offset < 0:
            raise line.error(f"invalid leader epoch: {entry}")
        previous = entries[-1] if entries else EpochEntry(-1, -1)
        if entry.epoch <= previous.epoch or entry.start_offset < previous.start_offset:
            raise line.error(f"{entry} after {previous}")
        if entry.start_offset == previous.start_offset:
            entries.pop()  # an epoch without records, which early Kafka versions kept
        entries.append(entry)
    return entries
