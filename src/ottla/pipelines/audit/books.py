"""The books of all topics and tiers: each tier against the reference, bucket by bucket.

Owns      which tiers are compared, percentages, lag, and until when a tier is complete.
Promises  a topic that no tier counted is *not audited*, and has no percentage; a percentage is
          rounded down, so that 100 % means all.
Leaves    the rules for one bucket to `comparison.py`.

Decisions only: given reports and the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ottla.pipelines.audit.comparison import STALE_MS, State, Verdict, compare_bucket
from ottla.pipelines.audit.reports import (
    BOOKED,
    BROKER,
    COUNTED,
    PRODUCER,
    BucketReport,
    Coverage,
    PartitionId,
    Tier,
    inconsistent_partitions,
)
from ottla.pipelines.sums.record_sums import BUCKET_MS, UNDATED, BucketKey

REFERENCE = "broker"
UNKNOWN = "(unknown)"  # the topics of a table that could never be read
ALL_AUDITED = "100 % of what was audited"
UNCOUNTED = (State.NOT_AUDITED, State.FORGED)  # have no share
FORGED_VERDICT = Verdict(State.FORGED, reason="the reports do not add up to their total")


@dataclass(frozen=True)
class TopicBook:
    """One topic in one tier, compared with the reference."""

    topic: str
    topic_id: str
    tier: str
    kind: str
    reference: str
    now_ms: int
    verdicts: Mapping[BucketKey, Verdict] = field(default_factory=dict)
    audited_until_ms: int | None = None  # the reference has counted everything before; None: never
    counted_at_ms: int | None = None  # when the tier was last counted; None: does not matter
    failure: str = ""  # why the last pass could not count the tier
    open_from: Mapping[int, int] = field(default_factory=dict)  # open transactions by partition

    @property
    def is_counted(self) -> bool:
        """Whether the tier is counted where the records are, not where they were written."""
        return self.kind == COUNTED

    @property
    def is_verified(self) -> bool:
        """Whether it was counted there, and lately."""
        return self.is_counted and not self.is_stale and not self.failure

    @property
    def is_stale(self) -> bool:
        """Whether the reference was counted long after the tier was."""
        if self.audited_until_ms is None or self.counted_at_ms is None:
            return False
        return self.audited_until_ms - self.counted_at_ms > STALE_MS

    @property
    def known_until_ms(self) -> int | None:
        """Both the reference and the tier were counted after this time; None: never."""
        if self.audited_until_ms is None or self.counted_at_ms is None:
            return self.audited_until_ms
        return min(self.audited_until_ms, self.counted_at_ms)

    def between(self, from_ms: int, to_ms: int) -> dict[BucketKey, Verdict]:
        """Buckets that overlap the time; those without a time always do."""
        return {
            key: verdict
            for key, verdict in self.verdicts.items()
            if key.bucket == UNDATED or (key.start_ms < to_ms and key.end_ms > from_ms)
        }

    @property
    def faults(self) -> dict[BucketKey, Verdict]:
        return {
            key: each
            for key, each in self.verdicts.items()
            if each.state.is_fault and not each.is_before_start
        }

    @property
    def share(self) -> float | None:
        """The share of the records of closed buckets that are present; None if nothing was
        audited."""
        return share_of(self.verdicts.values(), self.audited_until_ms)

    @property
    def percent(self) -> str:
        return percent_of(self.share, self.faults.values())

    @property
    def complete_until_ms(self) -> int | None:
        """Every record before this time, and from `complete_from_ms` on, is there; None if that is
        known of no time."""
        if self.known_until_ms is None or self.failure:
            return None
        ends = [self.known_until_ms // BUCKET_MS * BUCKET_MS]
        for key, each in self.verdicts.items():
            if each.state is not State.COMPLETE and not each.is_unknowable:
                if key.bucket == UNDATED:
                    return None
                ends.append(key.start_ms)
        until = min(ends)
        return until if (self.complete_from_ms or 0) < until else None

    @property
    def complete_from_ms(self) -> int | None:
        """Nothing will ever be known of some records before this time: retention has deleted them
        before they were counted, or the tier begins after them. None if there are none."""
        ends = [
            key.end_ms
            for key, each in self.verdicts.items()
            if each.is_unknowable and key.bucket != UNDATED
        ]
        return max(ends, default=None)

    @property
    def lag_ms(self) -> int | None:
        until = self.complete_until_ms
        return None if until is None else max(0, self.now_ms - until)


def share_of(verdicts: Iterable[Verdict], audited_until_ms: int | None = 0) -> float | None:
    if audited_until_ms is None:
        return None
    judged = [each for each in verdicts if each.state not in (State.OPEN, *UNCOUNTED)]
    expected = sum(each.expected or 0 for each in judged)
    if not expected:
        return None
    return sum(each.present for each in judged) / expected


def percent_of(share: float | None, faults: Iterable[Verdict]) -> str:
    """The share as people read it: 100 % alone only if nothing is left that was not audited."""
    is_partial = any(each.state in UNCOUNTED for each in faults)
    return ALL_AUDITED if is_partial and share is not None and share >= 1 else percent_text(share)


def percent_text(share: float | None) -> str:
    """Rounded down: 99.9999 % is not 100 %."""
    if share is None:
        return "not audited"
    if share >= 1:
        return "100 %"
    return f"{int(share * 100_000) / 1000:.3f} %"


def balance(tiers: Mapping[str, Tier], now_ms: int, reference: str = REFERENCE) -> list[TopicBook]:
    """The books of every topic in every tier but the reference; by topic, then tier."""
    base = tiers.get(reference) or Tier(reference, BROKER)
    forged = set(inconsistent_partitions(base))
    books = []
    for name, tier in sorted(tiers.items()):
        if tier.kind == PRODUCER and name != reference:
            for topic_id, topic in sorted(tier.topics().items()):
                books.append(_producer_book(tier, base, topic_id, topic, forged, now_ms))
        elif name != reference:
            forged_here = forged | set(inconsistent_partitions(tier))
            booked = booked_beside(tiers, tier)
            for topic_id, topic in sorted(tier.topics().items()):
                books.append(_topic_book(base, tier, booked, topic_id, topic, forged_here, now_ms))
            if tier.failure and not tier.coverage:  # it was never counted: of which topics?
                book = TopicBook(UNKNOWN, "", name, tier.kind, base.name, now_ms)
                books.append(replace(book, failure=tier.failure))
    return sorted(books, key=lambda book: (book.topic, book.tier))


def booked_beside(tiers: Mapping[str, Tier], tier: Tier) -> Tier | None:
    """What the writer of a counted table has recorded about it."""
    if tier.kind != COUNTED:
        return None
    same = (each for each in tiers.values() if each.kind == BOOKED and each.source == tier.source)
    return next(same, None)


def _topic_book(
    base: Tier,
    tier: Tier,
    booked: Tier | None,
    topic_id: str,
    topic: str,
    forged: set[PartitionId],
    now_ms: int,
) -> TopicBook:
    known = _of_topic(base.coverage, topic_id)
    keys = {key for key in base.buckets.keys() | tier.buckets.keys() if key.topic_id == topic_id}
    verdicts = {
        key: FORGED_VERDICT
        if PartitionId(key.topic_id, key.partition) in forged
        else _verdict(key, base, tier, booked, now_ms)
        for key in sorted(keys)
    }
    covered = _of_topic(tier.coverage, topic_id).values()
    return TopicBook(
        topic,
        topic_id,
        tier.name,
        tier.kind,
        base.name,
        now_ms,
        verdicts,
        audited_until_ms=_caught_up(known),
        counted_at_ms=min((each.at_ms for each in covered), default=0),
        failure=tier.failure,
        open_from={
            partition_id.partition: at
            for partition_id, each in known.items()
            if (at := each.open_from) is not None
        },
    )


def _verdict(key: BucketKey, base: Tier, tier: Tier, booked: Tier | None, now_ms: int) -> Verdict:
    """One bucket of the tier, compared with that of the reference."""
    partition_id = PartitionId(key.topic_id, key.partition)
    found = _of_records(tier.buckets.get(key))
    verdict = compare_bucket(
        key,
        _of_records(base.buckets.get(key)),
        base.coverage.get(partition_id),
        found,
        tier.coverage.get(partition_id),
        now_ms,
        None if booked is None else booked.buckets.get(key),
    )
    return _explained(replace(verdict, delay_ms=_delay(key, found)), tier, booked)


def _caught_up(known: Mapping[PartitionId, Coverage]) -> int | None:
    times = [each.caught_up_ms for each in known.values()]
    return None if not times or None in times else min(time for time in times if time)


def _delay(key: BucketKey, found: BucketReport | None) -> int | None:
    if found is None or found.changed_ms is None or key.bucket == UNDATED:
        return None
    return max(0, found.changed_ms - key.end_ms)


def _explained(verdict: Verdict, tier: Tier, booked: Tier | None) -> Verdict:
    """A query may leave records out, and it is not known which: missing records prove nothing."""
    counts = tier.counts or ({} if booked is None else booked.counts)
    if verdict.state is not State.MISSING or not counts.get("filtered"):
        return verdict
    reason = "the query of the pipeline leaves out records, and nothing says which"
    return replace(verdict, state=State.NOT_AUDITED, reason=reason)


def _producer_book(
    producer: Tier, base: Tier, topic_id: str, topic: str, forged: set[PartitionId], now_ms: int
) -> TopicBook:
    """The log must have all that a producer counted, and may have more: records of other
    producers."""
    forged = forged | set(inconsistent_partitions(producer))
    book = _topic_book(producer, base, None, topic_id, topic, forged, now_ms)
    verdicts = {
        key: _more_in_log(verdict)
        for key, verdict in book.verdicts.items()
        if key in producer.buckets
    }
    # An application that ended reports nothing more, and the log may be counted after its reports.
    until = book.known_until_ms
    return replace(
        book,
        tier=producer.name,
        kind=PRODUCER,
        verdicts=verdicts,
        audited_until_ms=until,
        counted_at_ms=None,
        failure="",
    )


def _more_in_log(verdict: Verdict) -> Verdict:
    if verdict.state is not State.DOUBLED:
        return verdict
    reason = "more records in the log: another producer, or this one crashed before its report"
    return replace(verdict, state=State.NOT_AUDITED, expected=None, reason=reason)


def _of_records(report: BucketReport | None) -> BucketReport | None:
    """Reports of aborted transactions alone say nothing about records."""
    if report is None or (report.sums is None and report.excluded is None):
        return None
    return report


def _of_topic(
    coverage: Mapping[PartitionId, Coverage], topic_id: str
) -> dict[PartitionId, Coverage]:
    return {
        partition_id: each
        for partition_id, each in coverage.items()
        if partition_id.topic_id == topic_id
    }
