"""The rules of `verify` and `check`, the page and the metrics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.unit.pipelines.audit.records import START_MS, Row, row
from tests.unit.pipelines.audit.test_comparison import FULL, KEY, NOW_MS, ROWS, tier

from ottla.pipelines.audit.books import TopicBook, balance
from ottla.pipelines.audit.comparison import State
from ottla.pipelines.audit.metrics_text import metrics_text
from ottla.pipelines.audit.page import page_html, write_file
from ottla.pipelines.audit.report_format import apply_record, tier_record
from ottla.pipelines.audit.reports import BOOKED, COUNTED, Tier
from ottla.pipelines.audit.verifying import check_books, verify_books
from ottla.pipelines.sums.record_sums import BUCKET_MS

HOUR_MS = 3_600_000
LATER_MS = NOW_MS + HOUR_MS
TWO_BUCKETS = [row(n) for n in range(100)]
COVERED = replace(FULL, at_ms=LATER_MS, caught_up_ms=LATER_MS)


def books(found: list[Row], kind: str = "counted") -> list[TopicBook]:
    tiers = {
        "broker": tier("broker", TWO_BUCKETS, COVERED),
        "lake": tier("lake", found, COVERED, kind),
    }
    return balance(tiers, LATER_MS)


def test_only_buckets_of_the_time_are_verified() -> None:
    lost = [each for each in TWO_BUCKETS if each["offset"] != 80]
    assert verify_books(books(lost), START_MS, KEY.end_ms).is_complete
    assert verify_books(books(lost), None, KEY.end_ms).is_complete
    (fault,) = verify_books(books(lost), START_MS, KEY.end_ms + 1).faults
    assert fault[2].state is State.MISSING
    assert not verify_books(books(lost), None, None).is_complete


def test_a_time_that_was_not_audited_is_not_complete() -> None:
    result = verify_books(books(TWO_BUCKETS), START_MS, LATER_MS + 1)
    assert (result.is_complete, len(result.not_audited)) == (False, 1)
    (book,) = balance({"lake": tier("lake", ROWS)}, NOW_MS)
    assert not verify_books([book], None, None).is_complete


def test_a_time_without_records_proves_nothing() -> None:
    result = verify_books(books(TWO_BUCKETS), START_MS - HOUR_MS, START_MS)
    assert (result.buckets, result.is_complete) == (0, False)


def test_old_records_that_were_never_counted_do_not_hold_the_time_forever() -> None:
    (book,) = books(TWO_BUCKETS)
    until = book.complete_until_ms
    first = min(book.verdicts)
    lost = replace(book.verdicts[first], state=State.NOT_AUDITED)
    held = replace(book, verdicts={**book.verdicts, first: lost})
    assert held.complete_until_ms == first.start_ms, "it may be audited yet"
    gone = replace(book, verdicts={**book.verdicts, first: replace(lost, is_unknowable=True)})
    assert (gone.complete_from_ms, gone.complete_until_ms) == (first.end_ms, until)


def test_only_counted_tiers_are_verified() -> None:
    assert verify_books(books(TWO_BUCKETS), None, None).is_verified
    assert not verify_books(books(TWO_BUCKETS, BOOKED), None, None).is_verified


def test_an_old_count_verifies_only_what_was_there_then() -> None:
    now_ms = LATER_MS + 166 * HOUR_MS
    broker = tier("broker", TWO_BUCKETS, replace(COVERED, at_ms=now_ms, caught_up_ms=now_ms))
    old = balance({"broker": broker, "lake": tier("lake", TWO_BUCKETS, COVERED)}, now_ms)
    (reported,) = verify_books(old, None, None).not_audited
    assert "the tier was not counted after" in reported
    assert not verify_books(old, None, now_ms).is_complete
    assert verify_books(old, None, LATER_MS).is_complete
    (late,) = check_books(old, 99.9, HOUR_MS)
    assert "lake: complete until" in late


def test_a_table_that_could_not_be_counted_is_a_problem() -> None:
    broker = tier("broker", TWO_BUCKETS, COVERED)
    lake = replace(tier("lake", TWO_BUCKETS, COVERED), failure="damaged")
    read: dict[str, Tier] = {}
    apply_record(read, *tier_record(lake))
    assert read["lake"].failure == "damaged"
    for failed in (lake, Tier("lake", COUNTED, failure="damaged")):
        found = balance({"broker": broker, "lake": failed}, LATER_MS)
        assert [each.complete_until_ms for each in found] == [None]
        assert "damaged" in verify_books(found, None, LATER_MS).not_audited[0]
        assert not verify_books(found, None, LATER_MS).is_complete
        assert "damaged" in check_books(found, 99.9, 2 * HOUR_MS)[0]


def test_an_open_transaction_is_named() -> None:
    hidden = replace(COVERED, caught_up_ms=START_MS, open_from=100)
    tiers = {
        "broker": tier("broker", TWO_BUCKETS, hidden),
        "lake": tier("lake", TWO_BUCKETS, COVERED),
    }
    found = balance(tiers, LATER_MS)
    assert {each.state for each in found[0].verdicts.values()} == {State.OPEN}
    reported = (
        "t, partition 0: a transaction that is open from offset 100 on hides what comes after"
    )
    assert reported in check_books(found, 99.9, HOUR_MS)


def test_records_before_the_start_of_a_table_are_not_its_loss() -> None:
    """A pipeline with `start: latest`."""
    rows = [row(n) for n in range(180)]  # three buckets
    covered = replace(COVERED, covers=180)
    tiers = {
        "broker": tier("broker", rows, covered),
        "lake": tier("lake", rows[90:], replace(covered, start=90)),
    }
    (book,) = found = balance(tiers, LATER_MS)
    states = [each.state for each in book.verdicts.values()]
    assert states == [State.NOT_AUDITED, State.NOT_AUDITED, State.COMPLETE]
    assert book.complete_from_ms == max(book.verdicts).start_ms
    assert book.complete_until_ms == LATER_MS // BUCKET_MS * BUCKET_MS
    assert check_books(found, 99.9, HOUR_MS) == []
    assert verify_books(found, None, None).is_complete
    assert not verify_books(found, START_MS, None).is_complete, "the time was asked for"
    tiers["lake"] = tier("lake", rows[90:-1], replace(covered, start=90))
    (book,) = balance(tiers, LATER_MS)
    assert [each.state for each in book.faults.values()] == [State.MISSING]


def test_check_says_what_is_wrong() -> None:
    assert check_books(books(TWO_BUCKETS), 99.9, HOUR_MS) == []
    (late,) = check_books(books(TWO_BUCKETS), 99.9, 999)
    assert "lake: complete until" in late
    lost = books(TWO_BUCKETS[1:])
    assert "t, lake: 99.000 % complete, below 99.9 %" in check_books(lost, 99.9, 2 * HOUR_MS)
    (nothing,) = check_books(balance({"lake": tier("lake", ROWS)}, NOW_MS), 0, HOUR_MS)
    assert nothing == "t, lake: not audited"


def test_the_page_has_names_as_data_only(tmp_path: Path) -> None:
    coverage = replace(COVERED, topic="</script><script>alert(1)</script>")
    tiers = {
        "broker": tier("broker", TWO_BUCKETS, coverage),
        "lake": tier("lake", TWO_BUCKETS[1:], coverage),
    }
    write_file(tmp_path / "audit.html", page_html(balance(tiers, LATER_MS), LATER_MS))
    text = (tmp_path / "audit.html").read_text()
    assert text.count("</script>") == 2, "the data and the program"
    found = text.partition('id="data">')[2].partition("</script>")[0]
    (book,) = json.loads(found)["books"]
    assert book["topic"] == coverage.topic
    assert [each["state"] for each in book["buckets"]] == ["missing", "complete"]
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_metrics_of_what_was_not_audited_have_no_ratio() -> None:
    text = metrics_text(balance({"lake": tier("lake", ROWS)}, NOW_MS))
    assert "ottla_audit_complete_ratio{" not in text
    assert 'ottla_audit_buckets{topic="t",tier="lake",state="not-audited"} 1' in text
    assert "ottla_audit_complete_ratio{" in metrics_text(books(TWO_BUCKETS))
