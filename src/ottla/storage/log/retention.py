"""Which segments are deleted: by age, by size, by the start of the log.

Owns      the three rules, as functions from segments to a number of them, and applying them.
Promises  segments are deleted from the oldest on without a gap, some at a time if the caller wants
          that; none that reaches the high watermark; an empty active segment stays.
Leaves    deleting to `log.py`, and removing the files, some time later, to `deletion.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from sys import maxsize
from typing import TYPE_CHECKING, Protocol, TypeVar

from ottla.base.files.readers import BLOCKING, Reader
from ottla.storage.log.log_files import LogFiles
from ottla.storage.segments.segment_search import largest_timestamp

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


class Sized(Protocol):
    base_offset: int
    size: int


S = TypeVar("S", bound=Sized)
SEGMENTS_AT_ONCE = 20  # on the event loop: four files of each are renamed


def count_expired(
    segments: Sequence[S],
    deletable_end: int,
    log_end_offset: int,
    oldest_ms: int,
    newest_ms_of: Callable[[S], int],
    count_max: int = maxsize,
) -> int:
    """Segments whose newest record is older than `oldest_ms`; the active one included."""
    count = 0
    for at, segment in enumerate(islice(segments, count_max)):
        is_last = at + 1 == len(segments)
        end_offset = log_end_offset if is_last else segments[at + 1].base_offset
        if end_offset > deletable_end or (is_last and segment.size == 0):
            break
        if newest_ms_of(segment) >= oldest_ms:
            break
        count += 1
    return count


def count_oversized(
    segments: Sequence[Sized],
    deletable_end: int,
    log_end_offset: int,
    bytes_max: int,
    count_max: int = maxsize,
) -> int:
    """Segments without which the log still holds `bytes_max` bytes; for 0 the active one too."""
    excess = sum(segment.size for segment in segments) - bytes_max
    count = 0
    for segment in islice(segments, count_max):
        is_last = count + 1 == len(segments)
        end_offset = log_end_offset if is_last else segments[count + 1].base_offset
        if end_offset > deletable_end or segment.size > excess or (is_last and segment.size == 0):
            break
        excess -= segment.size
        count += 1
    return count


def count_before_start(
    segments: Sequence[Sized], log_start_offset: int, count_max: int = maxsize
) -> int:
    """Closed segments that end before the log starts."""
    count = 0
    for following in islice(segments, 1, min(count_max, len(segments)) + 1):
        if following.base_offset > log_start_offset:
            break
        count += 1
    return count


def preload_retention(reader: Reader, log: Log) -> None:
    """Read what `enforce_retention` needs, and change nothing."""
    if log.is_closed:  # since the lookup began
        return
    if _count_due(reader, log, SEGMENTS_AT_ONCE):
        log.producers.load(reader)
        log.epochs.load(reader)


def enforce_retention(log: Log, count_max: int) -> int:
    """Delete at most `count_max` segments by all three rules; returns how many were deleted."""
    log.health.check()
    return log.delete_oldest(_count_due(BLOCKING, log, count_max))


def _count_due(reader: Reader, log: Log, count_max: int) -> int:
    """How many segments to delete by all three rules, each applied to what the others leave."""
    segments, config, offsets = log.segments, log.config, log.offsets
    count = count_before_start(segments, offsets.start, count_max)
    if not config.is_deleted:
        return count
    deletable_end, end_offset = offsets.high_watermark, offsets.end
    if config.retention_bytes >= 0:
        count += count_oversized(
            segments[count:], deletable_end, end_offset, config.retention_bytes, count_max - count
        )
    if config.retention_ms >= 0:
        oldest_ms = log.context.clock.now_ms() - config.retention_ms
        newest_ms_of = partial(largest_timestamp, reader)
        count += count_expired(
            segments[count:], deletable_end, end_offset, oldest_ms, newest_ms_of, count_max - count
        )
    return count


def count_with_snapshot(files: LogFiles, count: int) -> int:
    """How many of the `count` oldest segments end at a producer snapshot: other snapshots are still
    being encoded."""
    while count and files.segments[count].base_offset not in files.snapshots:
        count -= 1
    return count


def remove_oldest(files: LogFiles, count: int, delay_ms: int) -> None:
    removed, first_offset = files.segments[:count], files.segments[count].base_offset
    try:
        if first_offset not in files.snapshots:
            # It is missing, and cannot be built from the segments that stay.
            states = files.load_producers(first_offset)
            files.snapshots.write(states, first_offset, sync=True)
        files.retire(removed, delay_ms)
        files.retire_snapshots([segment.base_offset for segment in removed], delay_ms)
    finally:
        files.segments.remove_first(count)
