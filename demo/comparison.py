"""Compares the results with the expected ones: nothing lost, duplicated or changed.

Owns      the comparison and the description of differences.
Promises  pure; all differences are counted, and the first of each kind are described.
Leaves    reading to `lake.py` and `topics.py`, the expected results to `expected.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import TypeVar

from demo.expected import Alert
from demo.places import NAMED_MAX, Difference, Place, find_differences, ranges_of, ranges_text
from demo.reports import Report

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
TruckKey = tuple[str, int]  # a truck, and a sequence or the start of a window


@dataclass
class Comparison:
    """One row of the table. `notes` describe the differences."""

    what: str
    expected: int = 0
    found: int = 0
    lost: int = 0
    duplicated: int = 0
    changed: int = 0
    unknown: int = 0
    notes: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)  # where places are known

    @property
    def is_matching(self) -> bool:
        return not (self.lost or self.duplicated or self.changed or self.unknown or self.notes)


def compare(
    what: str,
    expected: Mapping[Key, Value],
    found: Iterable[tuple[Key, Value]],
    name: Callable[[Iterable[Key]], list[str]],
    places: Mapping[Key, Place] | None = None,
) -> Comparison:
    """Each key must occur once, with its expected value. With `places`, which are those of the
    topic, differences are also named by bucket, partition and offsets."""
    times: Counter[Key] = Counter()
    changed: dict[Key, Value] = {}
    for key, value in found:
        times[key] += 1
        if key in expected and expected[key] != value:
            changed[key] = value
    lost = expected.keys() - times.keys()
    unknown = times.keys() - expected.keys()
    twice = [key for key, count in times.items() if count > 1]
    comparison = Comparison(
        what, expected=len(expected), found=times.total(), lost=len(lost),
        duplicated=sum(times[key] - 1 for key in twice), changed=len(changed), unknown=len(unknown),
    )  # fmt: skip
    if places is not None:
        where = [[places[key] for key in keys if key in places] for keys in (lost, twice)]
        comparison.differences = find_differences(*where)
        comparison.notes += shortened([str(each) for each in comparison.differences])
    for word, keys in [("lost", lost), ("duplicated", twice), ("unknown", unknown)]:
        comparison.notes += [f"{word}: {each}" for each in shortened(name(keys))]
    comparison.notes += [
        f"changed: {name([key])[0]} is {changed[key]}, must be {expected[key]}"
        for key in sorted(changed, key=str)[:NAMED_MAX]
    ]
    return comparison


def compare_reports(
    what: str,
    expected: Mapping[TruckKey, Report],
    found: Iterable[Report],
    places: Mapping[TruckKey, Place] | None = None,
) -> Comparison:
    pairs = ((report[:2], report) for report in found)
    return compare(what, expected, pairs, sequences_by_truck, places)


def compare_alerts(expected: Iterable[Alert], found: Iterable[Alert]) -> Comparison:
    wanted = {alert[:2]: alert for alert in expected}
    return compare("alerts", wanted, ((alert[:2], alert) for alert in found), windows_by_truck)


def compare_latest(
    reports: Mapping[TruckKey, Report], latest: Mapping[str, Report], found: Iterable[Report]
) -> Comparison:
    """The compacted topic in log order: each truck's sequences must increase, each record must
    be a report of the truck, and the last one must have its highest sequence."""
    comparison = Comparison("latest positions", expected=len(latest))
    last: dict[str, Report] = {}
    again: list[TruckKey] = []
    for report in found:
        if (before := last.get(report.truck)) and report.sequence <= before.sequence:
            again.append(report[:2])
        if reports.get(report[:2]) != report:
            comparison.changed += 1
            comparison.notes.append(f"changed: {report}, must be {reports.get(report[:2])}")
        last[report.truck] = report
    comparison.found = len(last)
    behind = [truck for truck, wanted in latest.items() if last.get(truck) != wanted]
    comparison.lost = len(behind)
    comparison.duplicated = len(again)
    comparison.notes = shortened(comparison.notes)
    comparison.notes += [f"written again: {each}" for each in shortened(sequences_by_truck(again))]
    comparison.notes += shortened([describe_latest(truck, last, latest[truck]) for truck in behind])
    return comparison


def describe_latest(truck: str, last: Mapping[str, Report], wanted: Report) -> str:
    found = f"ends at sequence {last[truck].sequence}" if truck in last else "has no position"
    return f"{truck} {found}, its highest is {wanted.sequence}"


def sequences_by_truck(keys: Iterable[TruckKey]) -> list[str]:
    """`truck-017 sequences 3-5, 9`, one for each truck."""
    by_truck = groupby(sorted(keys), key=lambda key: key[0])
    return [f"{truck} sequences {ranges(number for _, number in its)}" for truck, its in by_truck]


def windows_by_truck(keys: Iterable[TruckKey]) -> list[str]:
    return [f"{truck} window of {moment(start_ms)}" for truck, start_ms in sorted(keys)]


def ranges(numbers: Iterable[int]) -> str:
    """`1-3, 7` of 1, 2, 3, 7."""
    return ranges_text(ranges_of(numbers))


def shortened(notes: list[str]) -> list[str]:
    more = len(notes) - NAMED_MAX
    return notes[:NAMED_MAX] + ([f"... and {more:,} more like this"] if more > 0 else [])


def moment(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%H:%M}"
