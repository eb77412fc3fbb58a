"""Every kind of difference is counted and named."""

from demo.comparison import compare_alerts, compare_latest, compare_reports, ranges
from demo.expected import Alert, expected_latest, expected_reports
from demo.scenario import SHIFT_START_MS, WINDOW_MS, Scenario

BY_TRUCK = expected_reports(Scenario(trucks=3, rate=30, seconds=2))
REPORTS = {report[:2]: report for its in BY_TRUCK.values() for report in its}
ALL = list(REPORTS.values())
LATEST = expected_latest(BY_TRUCK)
ALERTS = [Alert("truck-001", SHIFT_START_MS, SHIFT_START_MS + WINDOW_MS, 280)]


def test_unchanged_records_match() -> None:
    comparison = compare_reports("lake", REPORTS, reversed(ALL))
    assert comparison.is_matching
    assert (comparison.expected, comparison.found) == (63, 63)


def test_what_is_lost_is_named_by_truck_and_sequence() -> None:
    found = [each for each in ALL if each.truck != "truck-001" or each.sequence not in (4, 5, 9)]
    comparison = compare_reports("lake", REPORTS, found)
    assert (comparison.lost, comparison.duplicated) == (3, 0)
    assert comparison.notes == ["lost: truck-001 sequences 4-5, 9"]
    assert not comparison.is_matching


def test_a_batch_written_twice_is_duplicated() -> None:
    comparison = compare_reports("lake", REPORTS, ALL + ALL[:2])
    assert (comparison.lost, comparison.duplicated) == (0, 2)
    assert comparison.notes == ["duplicated: truck-000 sequences 0-1"]


def test_one_lost_and_one_twice_do_not_cancel_out() -> None:
    comparison = compare_reports("lake", REPORTS, ALL[1:] + ALL[-1:])
    assert comparison.found == comparison.expected
    assert (comparison.lost, comparison.duplicated) == (1, 1)


def test_a_changed_report_is_shown_beside_what_it_must_be() -> None:
    changed = ALL[0]._replace(latitude=0.0)
    comparison = compare_reports("lake", REPORTS, [changed, *ALL[1:]])
    assert comparison.changed == 1
    assert f"is {changed}, must be {ALL[0]}" in comparison.notes[0]


def test_a_report_that_was_not_sent_is_unknown() -> None:
    comparison = compare_reports("lake", REPORTS, [*ALL, ALL[0]._replace(truck="ghost")])
    assert comparison.unknown == 1
    assert comparison.notes == ["unknown: ghost sequences 0"]


def test_only_the_first_differences_are_named_and_all_are_counted() -> None:
    by_truck = expected_reports(Scenario(trucks=9, rate=9, seconds=1))
    reports = {report[:2]: report for its in by_truck.values() for report in its}
    comparison = compare_reports("lake", reports, [])
    assert comparison.lost == 18
    assert comparison.notes[0] == "lost: truck-000 sequences 0-1"
    assert comparison.notes[-1] == "lost: ... and 4 more like this"


def test_alerts_are_compared_window_by_window() -> None:
    assert compare_alerts(ALERTS, ALERTS).is_matching
    assert compare_alerts(ALERTS, []).notes == ["lost: truck-001 window of 04:00"]
    assert compare_alerts(ALERTS, ALERTS * 2).duplicated == 1
    assert compare_alerts(ALERTS, [ALERTS[0]._replace(driven_minutes=281)]).changed == 1


def test_latest_positions_may_have_any_history_that_rises() -> None:
    assert compare_latest(REPORTS, LATEST, ALL).is_matching
    assert compare_latest(REPORTS, LATEST, LATEST.values()).is_matching


def test_a_truck_that_stands_behind_its_highest_sequence_is_named() -> None:
    found = [each for each in ALL if each != LATEST["truck-002"]]
    comparison = compare_latest(REPORTS, LATEST, found)
    assert comparison.lost == 1
    assert comparison.notes == ["truck-002 ends at sequence 19, its highest is 20"]


def test_a_truck_without_a_position_is_named() -> None:
    found = [each for each in ALL if each.truck != "truck-000"]
    comparison = compare_latest(REPORTS, LATEST, found)
    assert comparison.notes == ["truck-000 has no position, its highest is 20"]


def test_a_position_written_again_is_duplicated_even_if_it_is_the_latest() -> None:
    comparison = compare_latest(REPORTS, LATEST, [*ALL, ALL[-1]])
    assert (comparison.lost, comparison.duplicated) == (0, 1)
    assert comparison.notes == ["written again: truck-002 sequences 20"]


def test_a_position_that_was_never_reported_is_changed() -> None:
    found = [*ALL[:-1], ALL[-1]._replace(longitude=0.0)]
    comparison = compare_latest(REPORTS, LATEST, found)
    assert (comparison.changed, comparison.lost) == (1, 1)


def test_ranges_of_numbers() -> None:
    assert ranges([3, 1, 2, 7]) == "1-3, 7"
    assert ranges(range(0, 20, 2)) == "0, 2, 4, 6, 8, ..."
