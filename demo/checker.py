"""A process that reads everything back and compares it with the expected results.

    python -m demo.checker --bootstrap HOST:PORT --lake DIRECTORY [--seed 7 ...]

Promises  its only inputs are the scenario and where to read, nothing from the other processes.
          Topics are read with confluent-kafka (read_committed), the lake with pyarrow. Exit code 1
          if there are differences, which are described; 2 if it could not compare.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from demo import expected
from demo import scenario as scenarios
from demo.comparison import (
    Comparison,
    TruckKey,
    compare_alerts,
    compare_latest,
    compare_reports,
)
from demo.lake import read_lake
from demo.places import Place
from demo.reports import Report
from demo.scenario import LATEST_TOPIC, REPORTS_TOPIC, Scenario
from demo.topics import read_alerts, read_placed_reports, read_reports

COLUMNS = ("expected", "found", "lost", "duplicated", "changed", "unknown")


def check(scenario: Scenario, bootstrap_servers: str, lake: Path) -> list[Comparison]:
    by_truck = expected.expected_reports(scenario)
    reports = {report[:2]: report for its in by_truck.values() for report in its}
    places: dict[TruckKey, Place] = {}
    topic = noted(read_placed_reports(bootstrap_servers, REPORTS_TOPIC), places)
    latest = read_reports(bootstrap_servers, LATEST_TOPIC)
    alerts = read_alerts(bootstrap_servers)
    return [
        compare_reports("events in the topic", reports, topic),
        check_lake(reports, places, lake),
        compare_latest(reports, expected.expected_latest(by_truck), latest),
        compare_alerts(expected.expected_alerts(scenario, by_truck), alerts),
    ]


def noted(found: Iterable[tuple[Report, Place]], places: dict[TruckKey, Place]) -> Iterator[Report]:
    for report, place in found:
        places[report[:2]] = place
        yield report


def check_lake(
    reports: Mapping[TruckKey, Report], places: Mapping[TruckKey, Place], lake: Path
) -> Comparison:
    content = read_lake(lake)
    misplaced = 0

    def rows() -> Iterator[Report]:
        nonlocal misplaced
        for report, position in content.reports():
            misplaced += report[:2] in places and places[report[:2]][:2] != position
            yield report

    comparison = compare_reports("events in the lake", reports, rows(), places)
    if misplaced:
        comparison.notes.insert(0, f"{misplaced:,} rows name another position in the topic")
    comparison.notes[:0] = content.damage
    return comparison


def table(comparisons: list[Comparison]) -> str:
    lines = [" " * 22 + "".join(f"{name:>12}" for name in COLUMNS)]
    for comparison in comparisons:
        numbers = "".join(f"{getattr(comparison, name):>12,}" for name in COLUMNS)
        lines.append(f"{comparison.what:<22}{numbers}")
        lines += [f"    {note}" for note in comparison.notes]
    return "\n".join(lines)


def run(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    scenario = scenarios.from_arguments(arguments)
    comparisons = check(scenario, arguments.bootstrap, arguments.lake)
    if arguments.result:
        arguments.result.write_text(json.dumps([asdict(each) for each in comparisons]))
    say(table(comparisons))
    return 0 if all(comparison.is_matching for comparison in comparisons) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--lake", required=True, type=Path)
    parser.add_argument("--result", type=Path, help="a file for the result as JSON")
    scenarios.add_arguments(parser)
    try:
        return run(parser.parse_args(), print)
    except Exception as error:  # not a difference: nothing was compared
        print(f"the checker could not look: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
