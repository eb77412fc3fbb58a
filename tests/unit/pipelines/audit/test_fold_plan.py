"""Where the audit continues, what retention took, and which records are late."""

from __future__ import annotations

from tests.unit.pipelines.audit.records import START_MS, TOPIC_ID, book_of_rows, row

from ottla.pipelines.audit.fold_plan import (
    FoldedRange,
    FoldRange,
    LogPosition,
    decide_step,
    joined,
    next_ranges,
    split_ranges,
)
from ottla.pipelines.audit.report_format import (
    apply_record,
    bucket_record,
    coverage_record,
    tier_record,
)
from ottla.pipelines.audit.reports import BucketReport, PartitionId, Tier, inconsistent_partitions
from ottla.pipelines.sums.record_sums import BUCKET_MS, BucketKey

PLACE = PartitionId(TOPIC_ID, 0)
OTHER = PartitionId(TOPIC_ID, 1)
FIRST = BucketKey(TOPIC_ID, 0, START_MS // BUCKET_MS)
SECOND = FIRST._replace(bucket=FIRST.bucket + 1)


def folded(start: int, end: int, log_start: int = 0) -> FoldedRange:
    rows = [row(n) for n in range(max(start, log_start), end)]
    return FoldedRange(FoldRange("t", PLACE, start, end), book_of_rows(rows), {}, log_start)


def step(tier: Tier, start: int, end: int, now_ms: int, log_start: int = 0) -> None:
    positions = {PLACE: LogPosition("t", log_start, end)}
    found = decide_step(tier, positions, [folded(start, end, log_start)], now_ms)
    tier.coverage.update(found.coverage)
    tier.buckets.update(found.buckets)


def test_it_continues_where_it_stopped_and_shares_a_step_among_partitions() -> None:
    tier = Tier("broker")
    step(tier, 0, 40, START_MS)
    positions = {PLACE: LogPosition("t", 0, 1000), OTHER: LogPosition("t", 5, 25)}
    ranges = next_ranges(tier, positions, 100)
    assert ranges == [FoldRange("t", OTHER, 5, 25), FoldRange("t", PLACE, 40, 120)]
    assert [(each.start, each.end) for each in split_ranges(ranges, 50)] == [
        (5, 25), (40, 90), (90, 120),
    ]  # fmt: skip
    assert next_ranges(tier, {PLACE: LogPosition("t", 0, 40)}, 100) == []
    assert next_ranges(tier, positions, 1) != [], "a small step is still a step"


def test_steps_add_up_to_one_fold() -> None:
    tier, whole = Tier("broker"), Tier("broker")
    for start in range(0, 120, 30):
        step(tier, start, start + 30, START_MS)
    step(whole, 0, 120, START_MS)
    assert tier.buckets == whole.buckets
    assert tier.coverage == whole.coverage
    assert inconsistent_partitions(tier) == []


def test_records_of_a_closed_bucket_are_late() -> None:
    tier = Tier("broker")
    step(tier, 0, 30, FIRST.end_ms - 1)
    step(tier, 30, 50, FIRST.end_ms + 5)
    assert tier.buckets[FIRST].late is None, "the bucket was not closed before this step"
    step(tier, 50, 90, FIRST.end_ms + 10)
    late = tier.buckets[FIRST].late
    assert late is not None
    assert (late.count, late.first_offset, late.last_offset) == (10, 50, 59)
    assert tier.buckets[FIRST].sums == book_of_rows([row(n) for n in range(60)])[FIRST]
    assert tier.buckets[SECOND].late is None


def test_the_first_pass_over_old_records_finds_none_late() -> None:
    tier = Tier("broker")
    positions = {PLACE: LogPosition("t", 0, 120)}
    for start in (0, 40, 80):
        found = decide_step(tier, positions, [folded(start, start + 40)], FIRST.end_ms * 2)
        tier.coverage.update(found.coverage)
        tier.buckets.update(found.buckets)
    assert [each.late for each in tier.buckets.values()] == [None, None]


def test_what_retention_took_is_a_gap() -> None:
    tier = Tier("broker")
    step(tier, 0, 20, START_MS)
    step(tier, 20, 60, START_MS, log_start=35)
    assert tier.coverage[PLACE].gaps == ((20, 35),)
    assert tier.coverage[PLACE].has(0, 19)
    assert not tier.coverage[PLACE].has(10, 20)
    assert (
        tier.buckets[FIRST].sums
        == book_of_rows([row(n) for n in [*range(20), *range(35, 60)]])[FIRST]
    )


def test_everything_may_be_deleted() -> None:
    tier = Tier("broker")
    step(tier, 0, 20, START_MS)
    found = decide_step(tier, {PLACE: LogPosition("t", 90, 90)}, [], START_MS)
    assert (found.coverage[PLACE].covers, found.coverage[PLACE].gaps) == (90, ((20, 90),))
    assert found.coverage[PLACE].caught_up_ms == START_MS


def test_an_open_transaction_keeps_buckets_open() -> None:
    """Records after it were acknowledged, and have not been counted."""
    tier = Tier("broker")
    step(tier, 0, 20, START_MS)
    hidden = {PLACE: LogPosition("t", 0, 60, high_watermark=70)}
    found = decide_step(tier, hidden, [folded(20, 60)], FIRST.end_ms + 5)
    coverage = found.coverage[PLACE]
    assert (coverage.covers, coverage.caught_up_ms, coverage.open_from) == (60, START_MS, 60)
    tier.coverage.update(found.coverage)
    read: dict[str, Tier] = {}
    apply_record(read, *coverage_record("broker", PLACE, coverage))
    assert read["broker"].coverage[PLACE] == coverage
    decided = {PLACE: LogPosition("t", 0, 70, high_watermark=70)}
    after = decide_step(tier, decided, [folded(60, 70)], FIRST.end_ms + 9).coverage[PLACE]
    assert (after.caught_up_ms, after.open_from) == (FIRST.end_ms + 9, None)


def test_the_log_of_a_new_tier_may_begin_anywhere() -> None:
    tier = Tier("broker")
    step(tier, 30, 60, START_MS, log_start=30)
    assert (tier.coverage[PLACE].start, tier.coverage[PLACE].gaps) == (30, ())


def test_gaps_that_touch_are_one() -> None:
    assert joined([(5, 7), (0, 2), (2, 4), (7, 9)]) == ((0, 4), (5, 9))


def test_records_of_the_topic_give_the_same_state() -> None:
    tier = Tier("broker", "broker", "localhost:9092")
    step(tier, 0, 30, FIRST.end_ms)
    step(tier, 30, 100, FIRST.end_ms, log_start=40)
    read: dict[str, Tier] = {}
    apply_record(read, *tier_record(tier))
    for key, report in tier.buckets.items():
        apply_record(read, *bucket_record(tier.name, key, report, 100))
    for place, coverage in tier.coverage.items():
        apply_record(read, *coverage_record(tier.name, place, coverage))
    assert read == {"broker": tier}
    first_key, _ = bucket_record(tier.name, FIRST, tier.buckets[FIRST], 100)
    apply_record(read, first_key, None)
    assert inconsistent_partitions(read["broker"]) == [PLACE]


def test_a_forged_bucket_never_becomes_part_of_the_total() -> None:
    tier = Tier("broker")
    step(tier, 0, 40, START_MS)
    tier.buckets[FIRST] = BucketReport(book_of_rows([row(n) for n in range(39)])[FIRST])
    for start in (40, 60, 100):  # the last one adds nothing to the bucket
        step(tier, start, start + 20, START_MS)
        assert inconsistent_partitions(tier) == [PLACE]
