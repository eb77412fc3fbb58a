"""Which segments have outlived their use: by age, by size, by the start of the log.

Owns      the three rules, as functions from segments to a number of them, and carrying them out.
Promises  segments go from the oldest on without a gap; none that reaches the high watermark; an
          empty active segment stays.
Leaves    deleting the files, some time later, to `deletion.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from ottla.base.files.readers import WAIT, Reader
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.log.rolling import roll
from ottla.storage.log.truncation import retire, retire_snapshots
from ottla.storage.producers.producer_replay import load_states
from ottla.storage.segments.segment_search import largest_timestamp

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


class Sized(Protocol):
    base_offset: int
    size: int


S = TypeVar("S", bound=Sized)


def count_expired(
    segments: Sequence[S],
    deletable_end: int,
    log_end_offset: int,
    oldest_ms: int,
    newest_ms_of: Callable[[S], int],
) -> int:
    """Segments whose newest record is older than `oldest_ms`; the active one included."""
    count = 0
    for at, segment in enumerate(segments):
        is_last = at + 1 == len(segments)
        end_offset = log_end_offset if is_last else segments[at + 1].base_offset
        if end_offset > deletable_end or (is_last and segment.size == 0):
            break
        if newest_ms_of(segment) >= oldest_ms:
            break
        count += 1
    return count


def count_oversized(
    segments: Sequence[Sized], deletable_end: int, log_end_offset: int, bytes_max: int
) -> int:
    """Segments without which the log still holds `bytes_max` bytes; for 0 the active one too."""
    excess = sum(segment.size for segment in segments) - bytes_max
    count = 0
    ends = [*(following.base_offset for following in segments[1:]), log_end_offset]
    for segment, end_offset in zip(segments, ends, strict=True):
        is_last = count + 1 == len(segments)
        if end_offset > deletable_end or segment.size > excess or (is_last and segment.size == 0):
            break
        excess -= segment.size
        count += 1
    return count


def count_before_start(segments: Sequence[Sized], log_start_offset: int) -> int:
    """Closed segments that end before the log starts."""
    count = 0
    for following in segments[1:]:
        if following.base_offset > log_start_offset:
            break
        count += 1
    return count


def preload_retention(reader: Reader, log: Log) -> None:
    """Read what `enforce_retention` asks for, and change nothing."""
    if log.is_closed:  # since the look-up began
        return
    count = count_before_start(log.segments, log.log_start_offset)
    if log.config.is_deleted:
        count += _count_oversized(log) + _count_expired(reader, log)
    if count:
        log.load_producers(reader)


def enforce_retention(log: Log) -> int:
    """Delete what has outlived its use; how many segments that were."""
    log.health.check()
    deleted = _delete(log, count_before_start(log.segments, log.log_start_offset))
    if not log.config.is_deleted:
        return deleted
    deleted += _delete(log, _count_oversized(log))
    return deleted + _delete(log, _count_expired(WAIT, log))


def _count_oversized(log: Log) -> int:
    bytes_max = log.config.retention_bytes
    if bytes_max < 0:
        return 0
    return count_oversized(log.segments, log.high_watermark, log.log_end_offset, bytes_max)


def _count_expired(reader: Reader, log: Log) -> int:
    if log.config.retention_ms < 0:
        return 0
    oldest_ms = log.clock.now_ms() - log.config.retention_ms
    return count_expired(
        log.segments,
        log.high_watermark,
        log.log_end_offset,
        oldest_ms,
        partial(largest_timestamp, reader),
    )


def advance_log_start(log: Log, offset: int) -> bool:
    """Forget the records before `offset`; OFFSET_OUT_OF_RANGE above the high watermark."""
    log.health.check()
    if offset > log.high_watermark:
        raise BrokerError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"{log.partition}: offset {offset} is above the high watermark {log.high_watermark}",
        )
    if offset <= log.log_start_offset:
        return False
    log.log_start_offset = offset
    log.load_epochs(WAIT).truncate_from_start(offset)
    log.load_producers(WAIT).log_start_advanced(offset)
    return True


def _finish_swap(log: Log) -> None:
    try:
        log.finish_swap()
    except OSError as error:
        raise log.health.failed(f"swapping segments of {log.path}", error) from error


def _count_with_snapshot(log: Log, count: int) -> int:
    """As many segments as a snapshot follows that is there: others are being encoded."""
    while count and log.segments[count].base_offset not in log.snapshots:
        count -= 1
    return count


def _delete(log: Log, count: int) -> int:
    """Delete the oldest segments. When all of them go, an empty one takes their place first."""
    if not count:
        return 0
    _finish_swap(log)
    if count == len(log.segments):
        roll(log)
    if log.snapshots_under_way:
        count = _count_with_snapshot(log, count)
        if not count:
            return 0
    doomed, first_offset = log.segments[:count], log.segments[count].base_offset
    advance_log_start(log, first_offset)
    try:
        if first_offset not in log.snapshots:
            # Lost somehow; from what stays it could not be made again.
            states = load_states(WAIT, log.snapshots, log.segments, first_offset)
            log.snapshots.write(states, first_offset, sync=True)
        retire(log, doomed)
        retire_snapshots(log, [segment.base_offset for segment in doomed])
    except OSError as error:
        raise log.health.failed(f"deleting segments of {log.path}", error) from error
    finally:
        log.segments.replace(doomed, ())
    return count
