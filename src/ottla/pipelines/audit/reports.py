"""The records of the topic `ottla-audit`: what each tier has seen, in total, never in increments.

Owns      keys and values of these records, and the state that follows from them (`Tier`).
Promises  a record replaces the one before it with the same key, so that a report that is written
          twice is counted once. What another version wrote is kept out and named.
Leaves    reading and writing to `report_log.py`, what sums mean to `sums/record_sums.py`.

    key                                            value
    ["tier", tier]                                 what kind of tier it is
    ["partition", tier, topic id, partition]       which offsets it covers, and its total
    ["bucket", tier, topic id, partition, bucket]  the sums of one bucket
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ottla.pipelines.sums.record_sums import (
    BUCKET_MS,
    Book,
    BucketKey,
    Sums,
    decode_sums,
    encode_sums,
)

VERSION = 1
TIER, PARTITION, BUCKET = "tier", "partition", "bucket"
EXCLUDED = "left_out"  # the stored key of `BucketReport.excluded`

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


# Encoding


def tier_record(tier: Tier) -> tuple[bytes, bytes]:
    value: dict[str, Any] = {"version": VERSION, "kind": tier.kind, "source": tier.source}
    if tier.counts:
        value["counts"] = tier.counts
    if tier.side_topics:
        value["side_topics"] = tier.side_topics
    if tier.failure:
        value["failure"] = tier.failure
    return _json([TIER, tier.name]), _json(value)


def coverage_record(
    tier: str, partition_id: PartitionId, coverage: Coverage
) -> tuple[bytes, bytes]:
    value: dict[str, Any] = {
        "version": VERSION,
        "topic": coverage.topic,
        "start": coverage.start,
        "covers": coverage.covers,
        "at": coverage.at_ms,
    }
    if coverage.caught_up_ms is not None:
        value["caught_up"] = coverage.caught_up_ms
    if coverage.gaps:
        value["gaps"] = [list(gap) for gap in coverage.gaps]
    if coverage.total is not None:
        value["total"] = encode_sums(coverage.total)
    if coverage.is_compacted:
        value["compacted"] = True
    if coverage.open_from is not None:
        value["open_from"] = coverage.open_from
    return coverage_key_bytes(tier, partition_id), _json(value)


def coverage_key_bytes(tier: str, partition_id: PartitionId) -> bytes:
    return _json([PARTITION, tier, *partition_id])


def bucket_record(
    tier: str, key: BucketKey, report: BucketReport, covers: int
) -> tuple[bytes, bytes]:
    value: dict[str, Any] = {"version": VERSION, "covers": covers}
    parts = {
        "sums": report.sums,
        "aborted": report.aborted,
        "late": report.late,
        EXCLUDED: report.excluded,
    }
    value |= {name: encode_sums(sums) for name, sums in parts.items() if sums is not None}
    if report.unaudited is not None:
        value["unaudited"] = report.unaudited
    if report.changed_ms is not None:
        value["changed"] = report.changed_ms
    return bucket_key_bytes(tier, key), _json(value)


def bucket_key_bytes(tier: str, key: BucketKey) -> bytes:
    return _json([BUCKET, tier, key.topic_id, key.partition, key.start_ms])


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


# Decoding


class UnreadableReport(ValueError):
    """A record of the topic that is not a report of this version."""


def apply_record(tiers: dict[str, Tier], key: bytes | None, value: bytes | None) -> None:
    """Take one record into the state; UnreadableReport leaves the state as it was."""
    try:
        kind, name, *rest = json.loads(key or b"")
        content = None if value is None else json.loads(value)
        if content is not None and content["version"] != VERSION:
            raise ValueError(f"version {content['version']} of the format")
        tier = tiers.get(name) or Tier(str(name))
        _APPLY[kind](tier, rest, content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableReport(f"key {key!r}: {error!r}") from None
    tiers[tier.name] = tier


def _apply_tier(tier: Tier, rest: list[Any], content: Any) -> None:
    if rest:
        raise ValueError(f"a key with {rest}")
    if content is not None:
        tier.kind, tier.source = str(content["kind"]), str(content["source"])
        tier.failure = str(content.get("failure", ""))
        tier.side_topics = [str(each) for each in content.get("side_topics", ())]
        tier.counts = {str(name): int(count) for name, count in content.get("counts", {}).items()}


def _apply_coverage(tier: Tier, rest: list[Any], content: Any) -> None:
    topic_id, partition = rest
    partition_id = PartitionId(str(topic_id), int(partition))
    if content is None:
        tier.coverage.pop(partition_id, None)
        return
    total = content.get("total")
    tier.coverage[partition_id] = Coverage(
        str(content["topic"]),
        int(content["start"]),
        int(content["covers"]),
        int(content["at"]),
        content.get("caught_up"),
        tuple((int(start), int(end)) for start, end in content.get("gaps", ())),
        None if total is None else decode_sums(total),
        bool(content.get("compacted", False)),
        content.get("open_from"),
    )


def _apply_bucket(tier: Tier, rest: list[Any], content: Any) -> None:
    topic_id, partition, start_ms = rest
    key = BucketKey(str(topic_id), int(partition), int(start_ms) // BUCKET_MS)
    if content is None:
        tier.buckets.pop(key, None)
        return

    def sums(name: str) -> Sums | None:
        return decode_sums(content[name]) if name in content else None

    tier.buckets[key] = BucketReport(
        sums("sums"),
        sums("aborted"),
        sums("late"),
        sums(EXCLUDED),
        content.get("unaudited"),
        content.get("changed"),
    )


_APPLY = {TIER: _apply_tier, PARTITION: _apply_coverage, BUCKET: _apply_bucket}


# Checks


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
