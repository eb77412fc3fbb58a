"""The books as documents for JSON and YAML, and as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ottla.cli.arguments.timestamps import format_timestamp
from ottla.cli.output.tables import Column, table
from ottla.pipelines.audit.books import TopicBook
from ottla.pipelines.audit.comparison import Verdict
from ottla.pipelines.audit.reports import Tier
from ottla.pipelines.sums.record_sums import UNDATED, BucketKey

REPORT_COLUMNS = (
    Column("TOPIC", "topic"),
    Column("TIER", "tier"),
    Column("COMPLETE", "percent"),
    Column("VERIFIED", "verified", lambda value: "yes" if value else "no"),
    Column("COMPLETE UNTIL", "complete_until"),
    Column("LAG", "lag_s", lambda value: duration_text(value)),
    Column("BUCKETS", "buckets", lambda value: counts_text(value)),
)
FAULT_COLUMNS = (
    Column("TOPIC", "topic"),
    Column("TIER", "tier"),
    Column("BUCKET", "bucket"),
    Column("PARTITION", "partition"),
    Column("STATE", "state"),
    Column("EXPECTED", "expected"),
    Column("FOUND", "found"),
    Column("LATE", "late"),
    Column("REASON", "reason"),
)


def bucket_text(key: BucketKey) -> str:
    return "undated" if key.bucket == UNDATED else time_text(key.start_ms)


def time_text(time_ms: int) -> str:
    """To the second: buckets begin at whole minutes."""
    text = format_timestamp(time_ms)
    return text[:-5] + "Z" if text.endswith(".000Z") else text


def duration_text(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{left:02}s" if minutes else f"{left}s"


def counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in counts.items()) or "-"


def book_document(book: TopicBook) -> dict[str, Any]:
    until, lag = book.complete_until_ms, book.lag_ms
    begin = book.complete_from_ms
    states = Counter(each.state.value for each in book.verdicts.values())
    return {
        "topic": book.topic,
        "topic_id": book.topic_id,
        "tier": book.tier,
        "reference": book.reference,
        "percent": book.percent,
        "share": book.share,
        "verified": book.is_verified,
        "complete_from": None if begin is None else time_text(begin),
        "complete_until": None if until is None else time_text(until),
        "lag_s": None if lag is None else lag // 1000,
        "counted_at": None if book.counted_at_ms is None else time_text(book.counted_at_ms),
        "failure": book.failure or None,
        "open_transactions": [
            {"partition": partition, "offset": offset}
            for partition, offset in sorted(book.open_from.items())
        ],
        "buckets": dict(sorted(states.items())),
    }


def fault_document(book: TopicBook, key: BucketKey, verdict: Verdict) -> dict[str, Any]:
    return {
        "topic": book.topic,
        "tier": book.tier,
        "bucket": bucket_text(key),
        "partition": key.partition,
        "state": verdict.state.value,
        "expected": verdict.expected,
        "found": verdict.found,
        "late": verdict.late,
        "reason": verdict.reason,
    }


def report_text(documents: Iterable[Mapping[str, Any]]) -> str:
    return table(REPORT_COLUMNS, documents)


def faults_text(documents: Iterable[Mapping[str, Any]]) -> str:
    return table(FAULT_COLUMNS, documents)


def pipeline_documents(tiers: Mapping[str, Tier]) -> list[dict[str, Any]]:
    """read = written + filtered + bad + late, of each table that a pipeline writes."""
    found = []
    for tier in tiers.values():
        counts = tier.counts
        if counts:
            out = sum(counts.get(name, 0) for name in ("written", "filtered", "bad", "late"))
            balances = counts.get("read", 0) == out
            found.append({"tier": tier.name, **counts, "balances": balances})
    return found


PIPELINE_COLUMNS = (
    Column("TIER", "tier"),
    *(Column(name.upper(), name) for name in ("read", "written", "filtered", "bad", "late")),
    Column("BALANCES", "balances", lambda value: "yes" if value else "no"),
)


def pipelines_text(documents: list[dict[str, Any]]) -> str:
    return table(PIPELINE_COLUMNS, documents)
