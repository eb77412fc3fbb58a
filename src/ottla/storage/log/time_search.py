"""Finding offsets by time, as ListOffsets asks for them.

Owns      the way from a timestamp over the time index and batch headers to a single record.
Promises  the first record at or after a timestamp, also inside compressed batches, which are
          opened by the bounded decoder after their checksum held.
Leaves    which offsets a reader may be told (high watermark, last stable offset) to the callers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ottla.protocol.records.batch import BatchHeader, has_valid_checksum
from ottla.protocol.records.reading import iterate_records
from ottla.storage.errors import CorruptLogError
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import (
    check_time_entry,
    find_batch,
    largest_timestamp,
    prepare,
    walk_from,
    with_sound_index,
)

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


class FoundTime(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int  # -1 where the batch does not say


def find_by_timestamp(log: Log, timestamp: int) -> FoundTime | None:
    """The first record at or after `timestamp`, from the start of the log on."""
    for segment in log.segments.reaching(log.log_start_offset):
        if segment.size and largest_timestamp(segment) >= timestamp:
            found = _find_in_segment(segment, timestamp, log.log_start_offset)
            if found is not None:
                return found
    return None


def find_max_timestamp(log: Log) -> FoundTime | None:
    """The record with the largest timestamp; the first of them, if there are several."""
    filled = [segment for segment in log.segments.reaching(log.log_start_offset) if segment.size]
    for segment in filled:
        prepare(segment)
    if not filled:
        return None
    newest = max(filled, key=lambda segment: segment.max_timestamp)
    if newest.max_timestamp < 0:
        return None
    found = find_batch(newest, newest.max_timestamp_offset)
    if found is None or found[1].max_timestamp != newest.max_timestamp:
        return None
    return _first_record(newest, *found, newest.max_timestamp, log.log_start_offset)


def _find_in_segment(segment: Segment, timestamp: int, start_offset: int) -> FoundTime | None:
    position, header = _find_batch_by_time(segment, timestamp, start_offset)
    while header is not None:
        found = _first_record(segment, position, header, timestamp, start_offset)
        if found is not None:
            return found
        # The batch claims a larger timestamp than its records have, or only records before the
        # start of the log have it: go on behind it.
        position, header = _find_batch_by_time(segment, timestamp, header.next_offset)
    return None


def _find_batch_by_time(
    segment: Segment, timestamp: int, start_offset: int
) -> tuple[int, BatchHeader | None]:
    """The first batch with a timestamp at or after `timestamp`, and an offset from there on."""

    def search() -> tuple[int, BatchHeader | None]:
        # An entry says that up to its offset no timestamp is larger than its own.
        entry = segment.indexes.times.lookup(timestamp - 1)
        if entry.timestamp >= 0:
            check_time_entry(segment, *entry)
        first_offset = max(entry.offset, start_offset)
        for position, header in walk_from(segment, segment.indexes.offsets.lookup(first_offset)):
            if header.max_timestamp >= timestamp and header.last_offset >= start_offset:
                return position, header
        return segment.size, None

    return with_sound_index(segment, search)


def _first_record(
    segment: Segment, position: int, header: BatchHeader, timestamp: int, start_offset: int
) -> FoundTime | None:
    data = segment.file.read_at(position, header.size_bytes)
    if len(data) < header.size_bytes or not has_valid_checksum(data, 0, header):
        raise CorruptLogError(segment.path, position, "wrong checksum")
    for record in iterate_records(data):
        if record.timestamp >= timestamp and record.offset >= start_offset:
            return FoundTime(record.timestamp, record.offset, header.partition_leader_epoch)
    return None
