"""What each tier has seen, in total, never in increments: the state that its reports add up to.

Owns      coverage, buckets and totals of a tier (`Tier`), and what changes them together.
Promises  the total of a partition is kept with its coverage: a bucket that another program has
          written or deleted contradicts it.
Leaves    the records of the topic `ottla-audit` to `report_format.py`, what sums mean to
          `sums/record_sums.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ottla.pipelines.sums.record_sums import Book, BucketKey, Sums

# Kinds of tiers
PRODUCER, BROKER, BOOKED, COUNTED = "producer", "broker", "booked", "counted"


class PartitionId(NamedTuple):
    topic_id: str
    partition: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which offsets of a partition a tier has counted: from `start` up to `covers`, without `gaps`.

    Offsets in gaps were deleted by retention before they were counted: nothing is known of them.
    """

    topic: str
    start: int
    covers: int
    at_ms: int  # when the tier looked at the end of the log or table
    caught_up_ms: int | None = None  # when it last had counted everything there was; None: never
    gaps: tuple[tuple[int, int], ...] = ()
    total: Sums | None = None  # of all buckets
    is_compacted: bool = False  # records may disappear from the log before others read them
    open_from: int | None = None  # an open transaction begins here, and hides what comes after

    def has(self, first: int, last: int) -> bool:
        """Whether all offsets from `first` to `last` are covered."""
        return self.start <= first and last < self.covers and not self._overlaps(first, last)

    def overlaps_gap(self, sums: Sums) -> bool:
        return self._overlaps(sums.first_offset, sums.last_offset)

    def _overlaps(self, first: int, last: int) -> bool:
        return any(start <= last and first < end for start, end in self.gaps)


@dataclass(frozen=True, slots=True)
class BucketReport:
    """What a tier has of one bucket; None if it only has records that do not count."""

    sums: Sums | None
    aborted: Sums | None = None  # records of aborted transactions
    late: Sums | None = None  # part of `sums`: what came after the bucket was closed
    excluded: Sums | None = None  # what a pipeline read, but did not write: filtered, bad, late
    unaudited: int | None = None  # rows not in `sums`: their records were not counted in the log
    changed_ms: int | None = None  # when the tier last found another number of records


@dataclass
class Tier:
    """All reports of one tier."""

    name: str
    kind: str = BROKER
    source: str = ""  # where it counts: a cluster, a table
    coverage: dict[PartitionId, Coverage] = field(default_factory=dict)
    buckets: dict[BucketKey, BucketReport] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # of a pipeline: read, written, ...
    side_topics: list[str] = field(default_factory=list)  # where it puts bad and late records
    failure: str = ""  # why the last pass could not count it

    def topics(self) -> dict[str, str]:
        """Names by topic id."""
        return {partition_id.topic_id: each.topic for partition_id, each in self.coverage.items()}


# Totals


def totals_of(buckets: Mapping[BucketKey, BucketReport]) -> dict[PartitionId, Sums]:
    """The sums of all buckets of each partition."""
    return totals_of_book(
        {key: report.sums for key, report in buckets.items() if report.sums is not None}
    )


def totals_of_book(book: Book) -> dict[PartitionId, Sums]:
    totals: dict[PartitionId, Sums] = {}
    for key, sums in book.items():
        partition_id = PartitionId(key.topic_id, key.partition)
        known = totals.get(partition_id)
        totals[partition_id] = sums if known is None else known.merged(sums)
    return totals


def inconsistent_partitions(tier: Tier) -> list[PartitionId]:
    """Partitions whose buckets do not add up to the total that was written with them: another
    program has written or deleted a report."""
    totals = totals_of(tier.buckets)
    partition_ids = sorted(totals.keys() | tier.coverage.keys())
    return [
        partition_id
        for partition_id in partition_ids
        if totals.get(partition_id) != _total(tier.coverage.get(partition_id))
    ]


def _total(coverage: Coverage | None) -> Sums | None:
    return None if coverage is None else coverage.total


def keeping_times(
    before: Mapping[BucketKey, BucketReport], after: Mapping[BucketKey, BucketReport], now_ms: int
) -> dict[BucketKey, BucketReport]:
    """Reports that say the same as before keep the time since when they do."""
    found = {}
    for key, report in after.items():
        known = before.get(key)
        is_same = known is not None and replace(known, changed_ms=None) == report
        found[key] = known if known is not None and is_same else replace(report, changed_ms=now_ms)
    return found


def with_totals(
    coverage: Mapping[PartitionId, Coverage], buckets: Mapping[BucketKey, BucketReport]
) -> dict[PartitionId, Coverage]:
    totals = totals_of(buckets)
    return {
        partition_id: replace(each, total=totals.get(partition_id))
        for partition_id, each in coverage.items()
    }


def with_added(coverage: Mapping[PartitionId, Coverage], book: Book) -> dict[PartitionId, Coverage]:
    """The totals after the records of a book were added to the buckets. They continue those that
    were reported: totals of the buckets would make a forged bucket part of them."""
    added = totals_of_book(book)
    return {
        partition_id: replace(each, total=merged_sums(each.total, added.get(partition_id)))
        for partition_id, each in coverage.items()
    }


def merged_sums(one: Sums | None, other: Sums | None) -> Sums | None:
    return other if one is None else one if other is None else one.merged(other)
