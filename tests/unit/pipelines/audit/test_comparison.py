"""The state of a bucket, from the sums of two tiers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.pipelines.audit.records import START_MS, TOPIC_ID, Row, book_of_rows, row

from ottla.pipelines.audit.books import balance, percent_text
from ottla.pipelines.audit.comparison import STALE_MS, State, Verdict, compare_bucket
from ottla.pipelines.audit.page import page_html
from ottla.pipelines.audit.report_format import apply_record, bucket_record
from ottla.pipelines.audit.reports import (
    COUNTED,
    BucketReport,
    Coverage,
    PartitionId,
    Tier,
    with_totals,
)
from ottla.pipelines.sums.record_sums import BUCKET_MS, BucketKey, HashSums

KEY = BucketKey(TOPIC_ID, 0, START_MS // BUCKET_MS)
PLACE = PartitionId(TOPIC_ID, 0)
NOW_MS = KEY.end_ms + 1000
ROWS = [row(n) for n in range(60)]
FULL = Coverage("t", 0, 100, NOW_MS, NOW_MS)


def report(rows: list[Row], **others: list[Row]) -> BucketReport:
    parts = {name: book_of_rows(each)[KEY] for name, each in others.items()}
    whole = BucketReport(book_of_rows(rows)[KEY] if rows else None)
    return replace(whole, **parts)  # type: ignore[arg-type]


def verdict(
    found: BucketReport | None,
    reference: BucketReport | None = None,
    known: Coverage | None = FULL,
    covered: Coverage | None = FULL,
    now_ms: int = NOW_MS,
) -> Verdict:
    return compare_bucket(KEY, reference or report(ROWS), known, found, covered, now_ms)


def test_the_same_records_are_complete_in_any_order() -> None:
    assert verdict(report(ROWS[::-1])) == Verdict(State.COMPLETE, 60, 60)


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        (ROWS[1:], State.MISSING),
        ([], State.MISSING),
        ([*ROWS, ROWS[3]], State.DOUBLED),
        ([*ROWS[1:], ROWS[3]], State.LOST_AND_DOUBLED),
        ([row(0, value=b"other"), *ROWS[1:]], State.CHANGED),
    ],
)
def test_faults_have_their_names(rows: list[Row], state: State) -> None:
    found = verdict(report(rows) if rows else None)
    assert found.state is state
    assert found.state.is_fault
    assert (found.expected, found.found) == (60, len(rows))
    assert found.present < 60 or state is State.DOUBLED


def test_only_late_records_missing_is_late() -> None:
    reference = report(ROWS, late=ROWS[55:])
    assert verdict(report(ROWS[:55]), reference).state is State.LATE
    assert verdict(report(ROWS), reference) == Verdict(State.COMPLETE, 60, 60, late=5)
    assert verdict(report(ROWS[:54]), reference).state is State.MISSING
    assert verdict(report(ROWS[5:]), reference).state is State.MISSING, "others than the late ones"
    assert verdict(None, report(ROWS, late=ROWS)).state is State.LATE


def test_what_was_left_out_on_purpose_is_not_missing() -> None:
    found = verdict(report(ROWS[:50], excluded=ROWS[50:]))
    assert (found.state, found.excluded) == (State.COMPLETE, 10)
    assert verdict(report(ROWS[:50], excluded=ROWS[51:])).state is State.MISSING


def test_a_bucket_is_open_until_it_has_ended_and_all_is_covered() -> None:
    early = replace(FULL, caught_up_ms=KEY.end_ms - 1)
    assert verdict(report(ROWS[1:]), known=early).state is State.OPEN
    behind = replace(FULL, covers=59)
    assert verdict(report(ROWS[:59]), covered=behind).state is State.OPEN
    assert verdict(None, covered=None).state is State.OPEN
    exact = replace(FULL, covers=60)
    assert verdict(report(ROWS[:59]), covered=exact).state is State.MISSING


def test_a_quiet_bucket_is_closed_by_the_clock() -> None:
    """Nothing comes after its records: only the clock says that it has ended."""
    quiet = Coverage("t", 0, 60, NOW_MS, NOW_MS)
    assert verdict(report(ROWS), known=quiet, covered=quiet).state is State.COMPLETE


def test_records_that_were_not_counted_are_not_audited() -> None:
    assert verdict(report(ROWS), known=None).state is State.NOT_AUDITED
    later = replace(FULL, start=10)
    assert verdict(report(ROWS), known=later).state is State.NOT_AUDITED
    gap = replace(FULL, gaps=((20, 25),))
    assert verdict(report(ROWS), known=gap).state is State.NOT_AUDITED
    assert verdict(report(ROWS), known=gap).expected is None


@pytest.mark.parametrize("rows", [ROWS[1:], [*ROWS, ROWS[3]], [*ROWS[1:], ROWS[3]]])
def test_what_compaction_may_have_removed_is_not_called_a_fault(rows: list[Row]) -> None:
    compacted = replace(FULL, is_compacted=True)
    assert verdict(report(rows), known=compacted).state is State.NOT_AUDITED
    assert verdict(report(ROWS), known=compacted).state is State.COMPLETE
    changed = [row(0, value=b"other"), *ROWS[1:]]
    assert verdict(report(changed), known=compacted).state is State.CHANGED


def test_an_audit_that_no_longer_runs_leaves_buckets_not_audited() -> None:
    old = replace(FULL, at_ms=START_MS, caught_up_ms=START_MS)
    late_ms = KEY.end_ms + STALE_MS + 1
    assert verdict(report(ROWS), known=old, now_ms=NOW_MS).state is State.OPEN
    assert verdict(report(ROWS), known=old, now_ms=late_ms).state is State.NOT_AUDITED


def test_rows_that_are_not_those_that_were_written_are_changed() -> None:
    sums = book_of_rows(ROWS)[KEY]
    sums = replace(sums, content=None, bytes=None, rows=HashSums(1, 1))
    booked = BucketReport(replace(sums, rows=HashSums(2, 2)))
    arguments = (KEY, report(ROWS), FULL, BucketReport(sums), FULL, NOW_MS)
    assert compare_bucket(*arguments, BucketReport(sums)).state is State.COMPLETE
    assert compare_bucket(*arguments, booked).state is State.CHANGED


def test_a_count_before_the_bucket_ended_proves_nothing() -> None:
    early = replace(FULL, at_ms=KEY.end_ms - 1)
    assert verdict(report(ROWS), covered=early).state is State.OPEN
    late_ms = KEY.end_ms + STALE_MS + 1
    assert verdict(report(ROWS), covered=early, now_ms=late_ms).state is State.NOT_AUDITED


def test_the_bucket_in_which_a_tier_begins_is_compared_with_what_was_written() -> None:
    later = replace(FULL, start=20)
    booked = report(ROWS[20:])
    arguments = (KEY, report(ROWS), FULL)

    def found(rows: list[Row], known: Coverage = FULL) -> Verdict:
        return compare_bucket(KEY, report(ROWS), known, report(rows), later, NOW_MS, booked)

    whole = found(ROWS[20:])
    assert (whole.state, whole.is_before_start) == (State.NOT_AUDITED, True)
    lost = found(ROWS[21:])
    assert (lost.state, lost.expected, lost.found) == (State.MISSING, 40, 39)
    assert not lost.is_before_start
    assert found([*ROWS[20:], ROWS[30]]).state is State.DOUBLED
    assert found([*ROWS[21:], ROWS[30]]).state is State.LOST_AND_DOUBLED
    assert compare_bucket(*arguments, None, later, NOW_MS, booked).state is State.MISSING
    behind = found(ROWS[21:], replace(FULL, covers=59))
    assert behind.state is not State.MISSING, "the reference has not counted all that was written"
    alone = compare_bucket(*arguments, report(ROWS[21:]), later, NOW_MS)
    assert alone.is_before_start, "without a writer nothing is known"


def test_changed_rows_in_the_bucket_in_which_a_tier_begins_are_seen() -> None:
    sums = replace(book_of_rows(ROWS[20:])[KEY], content=None, bytes=None, rows=HashSums(1, 1))
    booked = BucketReport(replace(sums, rows=HashSums(2, 2)))
    later = replace(FULL, start=20)
    found = compare_bucket(KEY, report(ROWS), FULL, BucketReport(sums), later, NOW_MS, booked)
    assert found.state is State.CHANGED


# Books


def tier(name: str, rows: list[Row], coverage: Coverage = FULL, kind: str = COUNTED) -> Tier:
    buckets = {key: BucketReport(sums) for key, sums in book_of_rows(rows).items()}
    return Tier(name, kind, "", with_totals({PLACE: coverage}, buckets), buckets)


def test_the_books_of_a_topic() -> None:
    rows = [row(n) for n in range(100)]  # the second bucket is still open
    lost = [each for each in rows if each["offset"] != 7]
    tiers = {"broker": tier("broker", rows), "lake": tier("lake", lost)}
    (book,) = balance(tiers, NOW_MS)
    assert [each.state for each in book.verdicts.values()] == [State.MISSING, State.OPEN]
    assert book.share == 59 / 60
    assert percent_text(book.share) == "98.333 %"
    assert book.complete_until_ms == START_MS
    assert list(book.faults) == [KEY]


def test_complete_until_is_the_end_of_the_last_closed_bucket() -> None:
    tiers = {"broker": tier("broker", ROWS), "lake": tier("lake", ROWS)}
    (book,) = balance(tiers, NOW_MS)
    assert (book.complete_until_ms, book.lag_ms) == (KEY.end_ms, 1000)
    assert (percent_text(book.share), book.is_verified) == ("100 %", True)


def test_a_table_that_is_no_longer_counted_is_complete_until_its_last_count() -> None:
    now_ms = KEY.end_ms + 166 * 3_600_000
    broker = tier("broker", ROWS, replace(FULL, at_ms=now_ms, caught_up_ms=now_ms))
    (book,) = balance({"broker": broker, "lake": tier("lake", ROWS)}, now_ms)
    assert book.complete_until_ms == KEY.end_ms
    assert not book.is_verified


def test_without_an_audit_there_is_no_percentage() -> None:
    (book,) = balance({"lake": tier("lake", ROWS)}, NOW_MS)
    assert {each.state for each in book.verdicts.values()} == {State.NOT_AUDITED}
    assert (book.share, book.complete_until_ms, book.lag_ms) == (None, None, None)
    assert percent_text(book.share) == "not audited"


def test_almost_all_is_not_all() -> None:
    assert percent_text(1 - 1e-9) == "99.999 %"


@pytest.mark.parametrize("state", [State.NOT_AUDITED, State.FORGED])
def test_what_was_not_audited_is_never_shown_as_all(state: State) -> None:
    rows = [row(n) for n in range(100)]
    later = replace(FULL, at_ms=NOW_MS + BUCKET_MS, caught_up_ms=NOW_MS + BUCKET_MS)
    tiers = {"broker": tier("broker", rows, later), "lake": tier("lake", rows, later)}
    (book,) = balance(tiers, NOW_MS + BUCKET_MS)
    assert (book.share, book.percent) == (1, "100 %")
    last = max(book.verdicts)
    unknown = replace(book, verdicts={**book.verdicts, last: Verdict(state)})
    assert (unknown.share, unknown.percent) == (1, "100 % of what was audited")
    before = replace(Verdict(state), is_before_start=True)
    assert replace(book, verdicts={**book.verdicts, last: before}).percent == "100 %"
    page = page_html([unknown], NOW_MS)
    assert f'"state":"{state.value}","share":null' in page


def test_a_forged_report_is_named() -> None:
    broker, lake = tier("broker", ROWS), tier("lake", ROWS[1:])
    broker.buckets[KEY] = report(ROWS[1:])  # to hide the loss
    (book,) = balance({"broker": broker, "lake": lake}, NOW_MS)
    assert {each.state for each in book.verdicts.values()} == {State.FORGED}
    assert book.share is None


def test_excluded_records_keep_their_stored_key() -> None:
    found = report(ROWS[:50], excluded=ROWS[50:])
    key, value = bucket_record("lake", KEY, found, 60)
    assert "left_out" in json.loads(value)
    assert "excluded" not in json.loads(value)
    tiers: dict[str, Tier] = {}
    apply_record(tiers, key, value)
    assert tiers["lake"].buckets == {KEY: found}
