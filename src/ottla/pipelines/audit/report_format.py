"""The records of the topic `ottla-audit`.

Owns      keys and values of these records.
Promises  a record replaces the one before it with the same key, so that a report that is written
          twice is counted once. What another version wrote is kept out and named.
Leaves    reading and writing to `report_log.py`, the state that follows from them to `reports.py`.

    key                                            value
    ["tier", tier]                                 what kind of tier it is
    ["partition", tier, topic id, partition]       which offsets it covers, and its total
    ["bucket", tier, topic id, partition, bucket]  the sums of one bucket
"""

from __future__ import annotations

import json
from typing import Any

from ottla.pipelines.audit.reports import BucketReport, Coverage, PartitionId, Tier
from ottla.pipelines.sums.record_sums import (
    BUCKET_MS,
    BucketKey,
    Sums,
    decode_sums,
    encode_sums,
)

VERSION = 1
TIER, PARTITION, BUCKET = "tier", "partition", "bucket"
EXCLUDED = "left_out"  # the stored key of `BucketReport.excluded`


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
