"""The expected results, computed only from the scenario.

Promises  a pure function of the scenario, independent of what Spark does: windows are sums over
          hours, alerts are windows with too much driving.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from demo.reports import Report, reports_of
from demo.scenario import DRIVING_MS_MAX, MINUTE_MS, SLIDE_MS, WINDOW_MS, Scenario


class Alert(NamedTuple):
    truck: str
    window_start_ms: int
    window_end_ms: int
    driven_minutes: int


def expected_reports(scenario: Scenario) -> dict[str, list[Report]]:
    """By truck and sequence: the sent reports, each of which the lake must contain once."""
    return {name: list(reports_of(scenario, name)) for name in scenario.truck_names()}


def expected_latest(reports: dict[str, list[Report]]) -> dict[str, Report]:
    return {truck: max(its, key=lambda report: report.sequence) for truck, its in reports.items()}


def expected_alerts(scenario: Scenario, reports: dict[str, list[Report]]) -> set[Alert]:
    """Of all windows that are closed by the closing reports."""
    return {
        alert
        for truck, its in reports.items()
        for alert in alerts_of(truck, its)
        if alert.window_end_ms <= scenario.final_watermark_ms
    }


def alerts_of(truck: str, reports: Iterable[Report]) -> list[Alert]:
    """A window starts at each full hour, so its driving time is a sum over its hours."""
    driven_ms: Counter[int] = Counter()  # by the start of the hour
    for report in reports:
        driven_ms[report.event_time_ms // SLIDE_MS * SLIDE_MS] += report.driven_ms
    first_ms, last_ms = min(driven_ms) - WINDOW_MS + SLIDE_MS, max(driven_ms)
    alerts = []
    for start_ms in range(first_ms, last_ms + SLIDE_MS, SLIDE_MS):
        end_ms = start_ms + WINDOW_MS
        sum_ms = sum(driven_ms[hour_ms] for hour_ms in range(start_ms, end_ms, SLIDE_MS))
        if sum_ms > DRIVING_MS_MAX:
            alerts.append(Alert(truck, start_ms, end_ms, sum_ms // MINUTE_MS))
    return alerts
