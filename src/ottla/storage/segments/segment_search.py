"""Finding batches in a segment by offset, and what its indexes must agree with.

Owns      the way from an index entry to a batch: every entry is compared with the batch that it
          points to, so a damaged index is found when it is used, and rebuilt from the records.
Promises  what is found by an index is what reading from the start would find.
Leaves    damage in the records themselves (CorruptLogError) to the callers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TypeVar

from ottla.base.files.readers import BLOCKING, Reader
from ottla.protocol.records.batch import NO_TIMESTAMP, BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.indexes.offset_index import OffsetPosition
from ottla.storage.segments.scanning import fetch_headers, scan_headers
from ottla.storage.segments.segment import BatchRange, Segment

log = logging.getLogger(__name__)
T = TypeVar("T")


class IndexDamage(Exception):
    """An index entry that points to no batch, or to another one."""


def locate(reader: Reader, segment: Segment, offset: int) -> BatchRange | None:
    """The first batch that ends at or after `offset`; None where all end before it."""
    recent = segment.find_recent(offset)
    if recent is not None:
        return recent
    found = find_batch(reader, segment, offset)
    return None if found is None else BatchRange(found[0], found[1].size_bytes)


def find_batch(reader: Reader, segment: Segment, offset: int) -> tuple[int, BatchHeader] | None:
    """As `locate`, with position and header."""

    def search() -> tuple[int, BatchHeader] | None:
        entry = segment.indexes.offsets.lookup(reader, offset)
        for position, header in scan_from(reader, segment, entry):
            if header.base_offset + header.last_offset_delta >= offset:
                return position, header
        return None

    return with_valid_index(reader, segment, search)


def read_next_offset(reader: Reader, segment: Segment) -> int:
    """One past the last offset; CorruptLogError where the file does not end with a whole batch."""

    def search() -> int:
        next_offset = segment.base_offset
        entry = segment.indexes.offsets.last_entry(reader)
        for _, header in scan_from(reader, segment, entry):
            next_offset = header.base_offset + header.last_offset_delta + 1
        return next_offset

    return with_valid_index(reader, segment, search)


def last_before(reader: Reader, segment: Segment, offset: int) -> BatchHeader | None:
    """The last batch that ends before `offset`."""

    def search() -> BatchHeader | None:
        last = None
        entry = segment.indexes.offsets.lookup(reader, offset - 1)
        for _, header in scan_from(reader, segment, entry):
            if header.base_offset + header.last_offset_delta >= offset:
                break
            last = header
        return last

    return with_valid_index(reader, segment, search)


def bound_after(reader: Reader, segment: Segment, position: int) -> int | None:
    """An offset after all batches that begin before `position`; None: see the next segment."""

    def search() -> int | None:
        entry = segment.indexes.offsets.first_from_position(reader, position)
        if entry is None:
            return None
        next(scan_from(reader, segment, entry), None)  # which compares it with the records
        return entry.offset

    return with_valid_index(reader, segment, search)


def prepare(reader: Reader, segment: Segment) -> None:
    """Read from the indexes of a segment that was opened, or truncated, what appends need."""
    if segment.is_prepared:
        return

    def search() -> int:
        offsets = segment.indexes.offsets
        bytes_since_index = segment.size - offsets.last_entry(reader).position
        entry = segment.indexes.times.last_entry(reader)
        if entry.timestamp > NO_TIMESTAMP:
            check_time_entry(reader, segment, entry.timestamp, entry.offset)
        segment.note_newest(*entry)
        start = offsets.lookup(reader, entry.offset)
        if segment.generation == 0:  # closed in order: what follows the last entry is older
            start = max(start, offsets.last_entry(reader))
        for _, header in scan_from(reader, segment, start):
            if header.max_timestamp > segment.max_timestamp:
                if segment.generation == 0:
                    raise IndexDamage(f"{segment.indexes.times.path} lacks entries")
                segment.note_newest(header.max_timestamp, header.last_offset)
        return bytes_since_index

    segment.prepared(with_valid_index(reader, segment, search))


def largest_timestamp(reader: Reader, segment: Segment) -> int:
    """The newest record's time; the file's own where records have none, or cannot be read."""
    try:
        prepare(reader, segment)
    except CorruptLogError as error:
        log.warning("%s", error)
    if segment.max_timestamp > NO_TIMESTAMP:
        return segment.max_timestamp
    return segment.modified_ms()


def scan_from(
    reader: Reader, segment: Segment, entry: OffsetPosition
) -> Iterator[tuple[int, BatchHeader]]:
    """The batches from an entry of the offset index on; IndexDamage if it fits none.

    An entry names the last offset of its batch, or of several that were written together.
    """
    start = entry.position
    if start and start >= segment.size:
        raise IndexDamage(f"{segment.indexes.offsets.path}: {entry} points past the records")
    is_met = start == 0
    batches = scan_headers(reader, segment.open(reader), start, segment.size)
    while True:
        try:
            position, header = next(batches)
        except StopIteration:
            break
        except CorruptLogError as error:
            if is_met or error.position != start:
                raise
            raise IndexDamage(f"{segment.indexes.offsets.path}: {entry}, but {error}") from error
        last_offset = header.base_offset + header.last_offset_delta
        if header.base_offset < segment.base_offset or (not is_met and last_offset > entry.offset):
            raise IndexDamage(f"{segment.indexes.offsets.path}: {entry} points to {header}")
        is_met = is_met or last_offset == entry.offset
        yield position, header
    if not is_met:
        raise IndexDamage(f"{segment.indexes.offsets.path}: no batch ends at {entry}")


def with_valid_index(reader: Reader, segment: Segment, search: Callable[[], T]) -> T:
    """The result of `search`, if necessary with rebuilt indexes."""
    try:
        return search()
    except (IndexDamage, CorruptLogError) as error:
        repair_index(reader, segment, error)
    try:
        return search()
    except IndexDamage as error:
        raise CorruptLogError(
            segment.path, 0, f"the index does not match the records: {error}"
        ) from error


def repair_index(reader: Reader, segment: Segment, error: IndexDamage | CorruptLogError) -> None:
    """Rebuild the indexes if `error` is about them; otherwise raise it."""
    if isinstance(error, CorruptLogError) and error.path == segment.path:
        raise error
    rebuild_indexes(reader, segment, str(error))


def rebuild_indexes(reader: Reader, segment: Segment, reason: str) -> None:
    """Rebuild offset and time index. CorruptLogError, now and later, if that is not possible."""
    if segment.has_damaged_index:
        raise CorruptLogError(segment.path, 0, f"the index cannot be rebuilt: {reason}")
    file, end = segment.open(reader), segment.size
    reader.prefetch(file.path, 0, end, lambda: fetch_headers(file, 0, end))
    log.warning("rebuilding indexes: %s", reason)
    segment.note_index_damage(True)
    batches = scan_headers(BLOCKING, file, 0, end)
    segment.indexes.rebuild(batches, segment.index_interval_bytes)
    segment.indexes.sync()
    segment.note_index_damage(False)


def check_time_entry(reader: Reader, segment: Segment, timestamp: int, offset: int) -> None:
    """IndexDamage unless the batch at `offset` has this timestamp, as in the time entry."""
    entry = segment.indexes.offsets.lookup(reader, offset)
    for _, header in scan_from(reader, segment, entry):
        if header.base_offset + header.last_offset_delta >= offset:
            if header.max_timestamp == timestamp:
                return
            break
    raise IndexDamage(f"{segment.indexes.times.path}: no {timestamp} at offset {offset}")
