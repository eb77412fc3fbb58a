"""What must be found, worked out by hand beside the oracle."""

from demo.expected import Alert, alerts_of, expected_alerts, expected_latest, expected_reports
from demo.reports import Report
from demo.scenario import HOUR_MS, MINUTE_MS, SHIFT_START_MS, SLIDE_MS, WINDOW_MS, Scenario

SMALL = Scenario(seed=3, trucks=40, rate=400, seconds=10)


def drives(minutes: range) -> list[Report]:
    """A report at each of these minutes, each of which was driven."""
    return [
        Report("t", number, SHIFT_START_MS + minute * MINUTE_MS, 0.0, 0.0, 80, MINUTE_MS)
        for number, minute in enumerate(minutes)
    ]


def test_four_and_a_half_hours_are_allowed() -> None:
    assert alerts_of("t", drives(range(270))) == []


def test_a_minute_more_is_an_alert_in_each_window_that_holds_it_all() -> None:
    start_ms = SHIFT_START_MS
    assert alerts_of("t", drives(range(271))) == [Alert("t", start_ms, start_ms + WINDOW_MS, 271)]


def test_a_long_drive_shows_in_several_windows() -> None:
    alerts = alerts_of("t", drives(range(6 * 60)))
    assert [(alert.window_start_ms, alert.driven_minutes) for alert in alerts] == [
        (SHIFT_START_MS, 300),
        (SHIFT_START_MS + HOUR_MS, 300),
    ]


def test_the_alerts_are_those_of_every_window_summed_by_itself() -> None:
    reports = expected_reports(SMALL)
    expected = set()
    first_ms = SHIFT_START_MS - WINDOW_MS
    for truck, its in reports.items():
        for start_ms in range(first_ms, SMALL.closing_ms, SLIDE_MS):
            end_ms = start_ms + WINDOW_MS
            inside = [each for each in its if start_ms <= each.event_time_ms < end_ms]
            minutes = sum(each.driven_ms for each in inside) / MINUTE_MS
            if minutes > 270:
                expected.add(Alert(truck, start_ms, end_ms, int(minutes)))
    assert expected
    assert expected_alerts(SMALL, reports) == expected


def test_some_trucks_are_driven_too_long_and_most_are_not() -> None:
    scenario = Scenario(rate=1000, seconds=20)
    alerts = expected_alerts(scenario, expected_reports(scenario))
    assert 5 < len({alert.truck for alert in alerts}) < scenario.trucks / 3


def test_the_closing_reports_let_every_window_of_the_shift_out() -> None:
    reports = expected_reports(SMALL)
    last_ms = max(each.event_time_ms for its in reports.values() for each in its[:-1])
    assert last_ms // SLIDE_MS * SLIDE_MS + WINDOW_MS <= SMALL.final_watermark_ms


def test_the_latest_position_is_the_one_with_the_highest_sequence() -> None:
    latest = expected_latest(expected_reports(SMALL))
    assert len(latest) == SMALL.trucks
    assert {report.sequence for report in latest.values()} == {SMALL.reports_per_truck}
