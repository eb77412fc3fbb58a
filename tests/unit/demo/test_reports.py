"""The fleet's reports are a function of the seed."""

import json
from itertools import pairwise

from demo.reports import decode, encode, reports_of, rounds
from demo.scenario import SHIFT_MS, SHIFT_START_MS, Scenario

SMALL = Scenario(seed=3, trucks=20, rate=200, seconds=10)


def test_the_same_seed_gives_the_same_reports() -> None:
    assert list(rounds(SMALL)) == list(rounds(SMALL))


def test_another_seed_gives_other_reports() -> None:
    other = Scenario(seed=4, trucks=20, rate=200, seconds=10)
    assert list(reports_of(SMALL, "truck-000")) != list(reports_of(other, "truck-000"))


def test_sequences_have_no_gaps_and_times_never_go_back() -> None:
    for name in SMALL.truck_names():
        reports = list(reports_of(SMALL, name))
        assert [report.sequence for report in reports] == list(range(101))
        times = [report.event_time_ms for report in reports]
        assert times == sorted(times)
        assert times[0] >= SHIFT_START_MS
        assert times[-2] < SHIFT_START_MS + SHIFT_MS + SMALL.interval_ms


def test_every_round_has_one_report_of_each_truck() -> None:
    every = list(rounds(SMALL))
    assert sum(map(len, every)) == SMALL.events
    for sequence, reports in enumerate(every):
        assert [report.truck for report in reports] == SMALL.truck_names()
        assert {report.sequence for report in reports} == {sequence}


def test_the_closing_reports_come_after_every_window_of_the_shift() -> None:
    *_, closing = rounds(SMALL)
    assert {report.event_time_ms for report in closing} == {SMALL.closing_ms}
    assert {report.driven_ms for report in closing} == {0}


def test_a_truck_at_rest_stays_where_it_is() -> None:
    reports = list(reports_of(SMALL, "truck-001"))
    resting = [pair for pair in pairwise(reports) if not pair[1].speed_kmh]
    assert resting
    assert all(before[3:5] == after[3:5] for before, after in resting)


def test_a_report_is_json_and_comes_back_as_it_was() -> None:
    for report in reports_of(SMALL, "truck-007"):
        assert json.loads(encode(report)) == report._asdict()
        assert decode(encode(report)) == report
