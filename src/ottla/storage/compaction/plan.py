"""Which log is compacted next, from where to where, and which segments become one.

Owns      the choice by dirty ratio and compaction lag, the range that may be cleaned, the groups.
Promises  nothing here reads a file or a clock; the same summaries give the same plan.
Leaves    making summaries of logs to `log_summary.py`, doing the work to `cleaner.py`.

A log is clean up to its checkpoint: below it no key occurs twice. From there on it is dirty.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.config.topic_options import TopicConfig

RELATIVE_OFFSET_MAX = 2**31 - 1
# In one group: the event loop renames the files of all segments that a new one replaces at once.
GROUPED_MAX = 100
_BASE_OFFSET = attrgetter("base_offset")


class SegmentSummary(NamedTuple):
    base_offset: int
    size_bytes: int
    largest_timestamp: int = -1  # of its records; only if there is a minimum lag
    first_timestamp: int = -1  # of its first batch; only if there is a maximum lag
    offset_index_bytes: int = 0
    time_index_bytes: int = 0


@dataclass(frozen=True, slots=True)
class LogSummary:
    partition: TopicPartition
    config: TopicConfig
    segments: Sequence[SegmentSummary]  # in order, the active one last
    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    checkpoint: int | None  # the end of what was cleaned before


@dataclass(frozen=True, slots=True)
class Cleanable:
    """The range of one log that may be cleaned now."""

    partition: TopicPartition
    first_dirty_offset: int
    first_uncleanable_offset: int  # the base of a segment
    clean_bytes: int
    dirty_bytes: int  # below `first_uncleanable_offset`
    delay_ms: int  # for how long max.compaction.lag.ms has been exceeded
    is_checkpoint_wrong: bool  # it must be set to `first_dirty_offset`

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0


def survey(log: LogSummary, now_ms: int) -> Cleanable:
    """The range of a log that may be cleaned, and how urgent that is."""
    first_dirty, is_wrong = _first_dirty_offset(log)
    limit = max(first_dirty, _uncleanable_offset(log, first_dirty, now_ms))
    first_uncleanable = _floor_segment(log.segments, limit).base_offset
    return Cleanable(
        partition=log.partition,
        first_dirty_offset=first_dirty,
        first_uncleanable_offset=first_uncleanable,
        clean_bytes=_bytes_between(log.segments, 0, first_dirty),
        dirty_bytes=_bytes_between(
            log.segments, min(first_dirty, first_uncleanable), first_uncleanable
        ),
        delay_ms=_delay_ms(log, first_dirty, now_ms),
        is_checkpoint_wrong=is_wrong,
    )


def should_clean(cleanable: Cleanable, config: TopicConfig) -> bool:
    if not cleanable.dirty_bytes:
        return False
    is_overdue = cleanable.delay_ms > 0
    return is_overdue or cleanable.dirty_ratio > config.min_cleanable_dirty_ratio


def choose_dirtiest(candidates: Iterable[Cleanable]) -> Cleanable | None:
    return max(candidates, key=lambda cleanable: cleanable.dirty_ratio, default=None)


def group_segments(
    segments: Sequence[SegmentSummary], config: TopicConfig, first_uncleanable_offset: int
) -> list[list[SegmentSummary]]:
    """Adjacent segments that fit into one, by their size before cleaning; no more than can be
    replaced at once."""
    groups: list[list[SegmentSummary]] = []
    for at, segment in enumerate(segments):
        is_last = at + 1 == len(segments)
        end = first_uncleanable_offset if is_last else segments[at + 1].base_offset
        if groups and _fits(groups[-1], segment, end, config):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _fits(
    group: list[SegmentSummary], segment: SegmentSummary, end_offset: int, config: TopicConfig
) -> bool:
    if len(group) >= GROUPED_MAX:
        return False
    together = [*group, segment]
    # An empty segment needs no index entry, however far away it is.
    is_in_reach = (
        not segment.size_bytes or end_offset - 1 - group[0].base_offset <= RELATIVE_OFFSET_MAX
    )
    return (
        is_in_reach
        and sum(each.size_bytes for each in together) <= config.segment_bytes
        and sum(each.offset_index_bytes for each in together) <= config.segment_index_bytes
        and sum(each.time_index_bytes for each in together) <= config.segment_index_bytes
    )


def _first_dirty_offset(log: LogSummary) -> tuple[int, bool]:
    """Where cleaning continues, and whether the checkpoint must be corrected."""
    if log.checkpoint is None:
        return log.log_start_offset, False
    if log.checkpoint < log.log_start_offset:
        return log.log_start_offset, True  # retention has deleted more than was cleaned
    if log.checkpoint > log.log_end_offset:
        return log.log_start_offset, True  # the log was truncated: what was clean may not be
    return log.checkpoint, False


def _uncleanable_offset(log: LogSummary, first_dirty_offset: int, now_ms: int) -> int:
    """Where cleaning ends: before the active segment, unstable offsets, and the compaction lag."""
    active = log.segments[-1].base_offset
    limit = min(log.last_stable_offset, active)
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        for segment in _closed_from(log.segments, first_dirty_offset):
            if segment.largest_timestamp > now_ms - lag_ms:
                return min(limit, segment.base_offset)
    return limit


def _delay_ms(log: LogSummary, first_dirty_offset: int, now_ms: int) -> int:
    until_ms = now_ms - max(log.config.max_compaction_lag_ms, 0)
    closed = _closed_from(log.segments, first_dirty_offset)
    first_ms = min((each.first_timestamp for each in closed if each.first_timestamp > 0), default=0)
    return max(until_ms - first_ms, 0) if first_ms else 0


def _closed_from(segments: Sequence[SegmentSummary], offset: int) -> list[SegmentSummary]:
    """The closed segments that hold `offset` or something later."""
    return list(segments_between(segments, offset, segments[-1].base_offset))


def segments_between(
    segments: Sequence[SegmentSummary], start_offset: int, end_offset: int
) -> list[SegmentSummary]:
    """The segments from the one that holds `start_offset` to the last that begins before
    `end_offset`."""
    if start_offset >= end_offset:
        return []
    first = _floor_number(segments, start_offset)
    return list(segments[first : bisect_left(segments, end_offset, lo=first, key=_BASE_OFFSET)])


def _floor_segment(segments: Sequence[SegmentSummary], offset: int) -> SegmentSummary:
    """The segment in which `offset` belongs; the first one for an offset below all."""
    return segments[_floor_number(segments, offset)]


def _floor_number(segments: Sequence[SegmentSummary], offset: int) -> int:
    return max(0, bisect_right(segments, offset, key=_BASE_OFFSET) - 1)


def _bytes_between(segments: Sequence[SegmentSummary], start_offset: int, end_offset: int) -> int:
    return sum(each.size_bytes for each in segments_between(segments, start_offset, end_offset))
