"""Which offsets to fold next, and what a fold adds to the reports. Decisions only.

Owns      where a tier continues in each partition, how much is one step, how offsets that retention
          has deleted are reported, and which records are late.
Promises  a step covers whole ranges of offsets once: coverage and sums change together.
Leaves    folding to `log_fold.py`, writing to `report_log.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ottla.pipelines.audit.reports import (
    BucketReport,
    Coverage,
    PartitionId,
    Tier,
    merged_sums,
    with_added,
)
from ottla.pipelines.sums.record_sums import BUCKET_MS, UNDATED, Book, BucketKey, Sums, add_to


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Where the log of a partition begins and ends now."""

    topic: str
    log_start: int
    stable_end: int  # the last stable offset
    is_compacted: bool = False
    high_watermark: int | None = None  # None: the same as `stable_end`

    @property
    def open_from(self) -> int | None:
        """Where the first open transaction begins, which hides what comes after."""
        if self.high_watermark is None or self.high_watermark <= self.stable_end:
            return None
        return self.stable_end


@dataclass(frozen=True, slots=True)
class FoldRange:
    """Offsets from `start` up to `end`."""

    topic: str
    partition_id: PartitionId
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoldedRange:
    """The sums of one range; `log_start` is above `start` if retention was faster."""

    range: FoldRange
    committed: Book
    aborted: Book
    log_start: int


def next_ranges(
    tier: Tier, positions: Mapping[PartitionId, LogPosition], offsets_max: int
) -> list[FoldRange]:
    """For each partition the offsets after those it covers, `offsets_max` in total at most, shared
    so that every partition advances."""
    open_ranges = []
    for partition_id, position in sorted(positions.items()):
        known = tier.coverage.get(partition_id)
        start = position.log_start if known is None else max(known.covers, position.log_start)
        if start < position.stable_end:
            open_ranges.append(FoldRange(position.topic, partition_id, start, position.stable_end))
    # The smallest first, so that what they leave of their share goes to the others.
    ranges, left = [], offsets_max
    for number, each in enumerate(sorted(open_ranges, key=lambda each: each.end - each.start)):
        share = max(1, left // (len(open_ranges) - number))
        ranges.append(replace(each, end=min(each.end, each.start + share)))
        left -= ranges[-1].end - ranges[-1].start
    return ranges


def split_ranges(ranges: Iterable[FoldRange], offsets_max: int) -> list[FoldRange]:
    """Ranges for tasks, none longer than `offsets_max`."""
    return [
        replace(each, start=start, end=min(start + offsets_max, each.end))
        for each in ranges
        for start in range(each.start, each.end, offsets_max)
    ]


@dataclass(frozen=True)
class FoldStep:
    """What one step changes, in one transaction."""

    coverage: dict[PartitionId, Coverage]
    buckets: dict[BucketKey, BucketReport]


def decide_step(
    tier: Tier,
    positions: Mapping[PartitionId, LogPosition],
    folded: Iterable[FoldedRange],
    now_ms: int,
) -> FoldStep:
    """`now_ms` is when the positions were looked up."""
    committed: Book = {}
    aborted: Book = {}
    advances: dict[PartitionId, list[FoldedRange]] = {}
    for each in folded:
        advances.setdefault(each.range.partition_id, []).append(each)
        add_to(committed, each.committed)
        add_to(aborted, each.aborted)
    changed = {
        key: _added(tier, key, committed.get(key), aborted.get(key), now_ms)
        for key in committed.keys() | aborted.keys()
    }
    coverage = {
        partition_id: _advanced(
            tier.coverage.get(partition_id), position, advances.get(partition_id, []), now_ms
        )
        for partition_id, position in positions.items()
    }
    return FoldStep(with_added(coverage, committed), changed)


def _added(
    tier: Tier, key: BucketKey, sums: Sums | None, aborted: Sums | None, now_ms: int
) -> BucketReport:
    known = tier.buckets.get(key) or BucketReport(None)
    coverage = tier.coverage.get(PartitionId(key.topic_id, key.partition))
    is_late = coverage is not None and is_closed(key, coverage)
    return BucketReport(
        merged_sums(known.sums, sums),
        merged_sums(known.aborted, aborted),
        merged_sums(known.late, sums) if is_late else known.late,
        changed_ms=now_ms,
    )


def is_closed(key: BucketKey, coverage: Coverage) -> bool:
    """Whether everything there was has been counted at a time after the bucket's end. Records
    without a usable timestamp are never late."""
    if key.bucket == UNDATED or coverage.caught_up_ms is None:
        return False
    return key.start_ms + BUCKET_MS <= coverage.caught_up_ms


def _advanced(
    known: Coverage | None, position: LogPosition, folded: list[FoldedRange], now_ms: int
) -> Coverage:
    if known is None:
        known = Coverage(position.topic, position.log_start, position.log_start, now_ms)
    gaps, covers = list(known.gaps), known.covers
    for each in sorted(folded, key=lambda each: each.range.start):
        counted_from = max(each.range.start, min(each.log_start, each.range.end))
        if counted_from > covers:
            gaps.append((covers, counted_from))
        covers = each.range.end
    if not folded and position.log_start > covers:  # everything was deleted
        gaps.append((covers, position.log_start))
        covers = position.log_start
    has_all = covers >= position.stable_end and position.open_from is None
    return replace(
        known,
        covers=covers,
        at_ms=now_ms,
        caught_up_ms=now_ms if has_all else known.caught_up_ms,
        gaps=joined(gaps),
        is_compacted=position.is_compacted,
        open_from=position.open_from,
    )


def joined(gaps: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted, and those that touch each other as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(gaps):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)
