"""One segment of a partition log: a record file and its sparse indexes.

Owns      the files `<base offset>.log .index .timeindex .txnindex`, and their lengths.
Promises  `size` covers complete batches only; an index never points past it. An index that
          does not match the records is detected when it is used, and rebuilt.
Leaves    choosing offsets to `log.py`, finding batches to `segment_search.py`, truncating after a
          crash to `segment_recovery.py`.
Threads   one at a time; only the sync of its files may run in another.
"""

# Records are written before their index entry: a crash in between loses an entry, which
# recovery rebuilds, and never leaves an entry that points past the end of the file.

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from ottla.base.files.filesystem import Buffer, File, FileSystem
from ottla.base.files.readers import BLOCKING, Reader
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import LENGTH_PREFIX_BYTES, NO_TIMESTAMP, BatchHeader
from ottla.storage.files.file_names import LOG_SUFFIX, segment_file_name
from ottla.storage.indexes.segment_indexes import SegmentIndexes, index_paths
from ottla.storage.segments.scanning import scan_headers
from ottla.storage.segments.verified_ranges import VerifiedRanges

RELATIVE_OFFSET_MAX = 2**31 - 1
RECENT_BATCHES_MAX = 1024


class BatchRange(NamedTuple):
    position: int
    size: int


class Segment:
    def __init__(
        self,
        files: FileSystem,
        directory: str,
        base_offset: int,
        size: int,
        indexes: SegmentIndexes,
        *,
        index_interval_bytes: int,
        created_ms: int,
        roll_jitter_ms: int = 0,
        file: File | None = None,
        state: str = "",
    ) -> None:
        self.base_offset = base_offset
        self.size = size
        self.indexes = indexes
        self.index_interval_bytes = index_interval_bytes
        self.created_ms = created_ms
        self.roll_jitter_ms = roll_jitter_ms
        self.state = state  # "" or one of `.deleted`, `.cleaned`, `.swap`
        self.verified = VerifiedRanges()
        self.generation = 0  # increased when bytes that may be read elsewhere have changed
        self.max_timestamp = NO_TIMESTAMP  # of all records, once `is_prepared`
        self.max_timestamp_offset = base_offset
        self.bytes_since_index = 0
        self.is_prepared = size == 0
        self.is_repaired = False  # truncated or its indexes rebuilt, and not synced since
        self.has_checked_transactions = size == 0
        self.checked_transactions = 0  # so many of the index, until it has all been
        self.has_damaged_index = False  # that could not be rebuilt: the records are damaged too
        self._first_timestamp: int | None = None
        self._files = files
        self._directory = directory
        self._file = file
        # The last batches appended, so that readers at the end of the log cost no read.
        self._recent_last_offsets: list[int] = []
        self._recent_positions: list[int] = []
        self._recent_base_offset = 0

    def __repr__(self) -> str:
        return f"Segment({self.path!r}, {self.size} bytes)"

    @property
    def path(self) -> str:
        return self._path(self.state)

    def open(self, reader: Reader) -> File:
        """The record file, which is opened at its first use."""
        if self._file is None:
            self._file = reader.open(self._files, self.path)
        return self._file

    # Appending

    def write(self, data: Buffer) -> int:
        """Write complete batches after the last one; their position. OSError leaves `size` as is.

        They are not part of the segment before `note` is called for each of them.
        """
        position = self.size
        (self._file or self.open(BLOCKING)).write_at(position, data)
        return position

    def note(self, position: int, header: BatchHeader) -> None:
        """Make a batch that was written at `position`, after all others, part of the segment."""
        last_offset = header.base_offset + header.last_offset_delta
        timestamp = header.max_timestamp
        size = LENGTH_PREFIX_BYTES + header.batch_length
        if position == 0:
            self._first_timestamp = timestamp
        if timestamp > self.max_timestamp:
            self.max_timestamp, self.max_timestamp_offset = timestamp, last_offset
        if self.bytes_since_index > self.index_interval_bytes:
            self.indexes.add(last_offset, position, self.max_timestamp, self.max_timestamp_offset)
            self.bytes_since_index = 0
        self.bytes_since_index += size
        recent = self._recent_last_offsets
        if not recent:
            self._recent_base_offset = header.base_offset
        elif len(recent) >= RECENT_BATCHES_MAX:
            self._forget_recent(RECENT_BATCHES_MAX // 2)
        recent.append(last_offset)
        self._recent_positions.append(position)
        self.size = position + size

    def should_roll(self, config: TopicConfig, header: BatchHeader, now_ms: int) -> bool:
        """Whether a batch must be written to a new segment."""
        if self.size + LENGTH_PREFIX_BYTES + header.batch_length > config.segment_bytes:
            return True
        if header.base_offset + header.last_offset_delta - self.base_offset > RELATIVE_OFFSET_MAX:
            return True
        if self.size == 0:
            return False
        first = self._first_timestamp
        if first is None:
            first = self.first_timestamp(BLOCKING)
        waited_ms = header.max_timestamp - first if first >= 0 else now_ms - self.created_ms
        open_ms_max = config.segment_ms
        if 0 < config.max_compaction_lag_ms < open_ms_max and config.is_compacted:
            open_ms_max = config.max_compaction_lag_ms  # only closed segments are compacted
        return waited_ms > open_ms_max - self.roll_jitter_ms or self.indexes.is_full

    def first_timestamp(self, reader: Reader) -> int:
        """The largest timestamp of the first batch, which is what a segment's age counts from."""
        if self._first_timestamp is None:
            first = next(scan_headers(reader, self.open(reader), 0, self.size), None)
            if first is None:
                return NO_TIMESTAMP
            self._first_timestamp = first[1].max_timestamp
        return self._first_timestamp

    @property
    def last_batch_position(self) -> int | None:
        """Where the last batch begins; None if it was not appended since the segment was opened."""
        return self._recent_positions[-1] if self._recent_positions else None

    def find_recent(self, offset: int) -> BatchRange | None:
        """The first batch that ends at or after `offset`, if it was appended recently."""
        recent = self._recent_last_offsets
        if not recent or not self._recent_base_offset <= offset <= recent[-1]:
            return None
        at = bisect_left(recent, offset)
        positions = self._recent_positions
        end = positions[at + 1] if at + 1 < len(positions) else self.size
        return BatchRange(positions[at], end - positions[at])

    # What others have read or rebuilt: `segment_search.py`, `segment_recovery.py`

    def note_newest(self, timestamp: int, offset: int) -> None:
        """The largest timestamp of all records, as far as they were read."""
        self.max_timestamp, self.max_timestamp_offset = timestamp, offset

    def prepared(self, bytes_since_index: int) -> None:
        """Everything that an append needs was read."""
        self.bytes_since_index = bytes_since_index
        self.is_prepared = True

    def rebuild_begins(self) -> None:
        """The records are checked, and everything that is derived from them is rebuilt."""
        self.verified.clear()
        self.generation += 1
        self.is_repaired = True

    def rebuilt(self, size: int, bytes_since_index: int) -> None:
        """The records end at `size`; indexes and aborted transactions are those of the records."""
        self.size = size
        self.has_checked_transactions = True
        self.prepared(bytes_since_index)

    def transactions_checked(self, count: int) -> None:
        """Note that the first `count` entries of the transaction index agree with the records."""
        self.checked_transactions = count

    def all_transactions_checked(self) -> None:
        self.has_checked_transactions = True

    def note_index_damage(self, is_damaged: bool) -> None:
        """Whether the indexes are damaged and cannot be rebuilt."""
        self.has_damaged_index = is_damaged

    # Truncating

    # A truncation is synced immediately. Otherwise a power failure could restore the old bytes
    # among new records that were not synced: a log that was never written.

    def undo_write(self) -> None:
        """Truncate what a failed write may have left after the last batch."""
        self.is_repaired = True
        file = self.open(BLOCKING)
        file.truncate(self.size)
        file.sync()

    def cut(self, position: int, offset: int) -> None:
        """Remove the batch at `position`, which begins at or after `offset`, and what follows.
        `sync_cut` must follow."""
        self.generation += 1
        self.is_repaired = True
        self.indexes.truncate_to(offset)
        self.size = position
        self.open(BLOCKING).truncate(position)
        self.verified.cut(position)
        self._forget_recent(len(self._recent_last_offsets))
        self.is_prepared = position == 0
        self.checked_transactions = 0
        if position == 0:
            self.max_timestamp, self.max_timestamp_offset = NO_TIMESTAMP, self.base_offset
            self.bytes_since_index = 0
            self._first_timestamp = None

    def sync_cut(self) -> None:
        self.open(BLOCKING).sync()

    def _forget_recent(self, count: int) -> None:
        last_offsets = self._recent_last_offsets
        if count:
            self._recent_base_offset = last_offsets[count - 1] + 1
            del last_offsets[:count], self._recent_positions[:count]

    # Files

    def modified_ms(self) -> int:
        return self._files.modified_ms(self.path)

    def seal(self) -> None:
        """No more appends: write the last time entry, free preallocated space."""
        if self.is_prepared:
            self.indexes.finish(self.max_timestamp, self.max_timestamp_offset)
        if self._file is not None and self._file.size() != self.size:
            self._file.truncate(self.size)
        self._forget_recent(len(self._recent_last_offsets))

    def sync(self) -> None:
        self.open(BLOCKING).sync()
        self.indexes.sync()
        self.is_repaired = False

    def rename(self, state: str) -> None:
        """Give all files another state. The records first: an index without records is ignored."""
        index_names = index_paths(self._directory, self.base_offset, state)
        for old, new in zip(self.paths(), [self._path(state), *index_names], strict=True):
            if self._files.exists(old):
                self._files.rename(old, new)
        self.state = state
        if self._file is not None:
            self._file.renamed(self.path)
        self.indexes.renamed(index_names)

    def moved(self, directory: str) -> None:
        """The partition's directory has another name now."""
        self.indexes.moved(self._directory, directory)
        self._directory = directory
        if self._file is not None:
            self._file.renamed(self.path)

    def close(self) -> None:
        """Close the files as they are."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
        self.indexes.close()

    def paths(self) -> list[str]:
        return [self.path, *self.indexes.paths()]

    def _path(self, state: str) -> str:
        return f"{self._directory}/{segment_file_name(self.base_offset, LOG_SUFFIX + state)}"
