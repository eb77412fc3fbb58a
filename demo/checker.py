"""A process that reads everything back and compares it with what the seed says must be there.

    python -m demo.checker --bootstrap HOST:PORT --lake DIRECTORY [--seed 7 ...]

Promises  it knows the scenario and where to read, and nothing of what the other processes did or
          believe. Topics are read by confluent-kafka (read_committed), the lake by pyarrow.
          Exit code 1 if anything differs, with the differences named; 2 if it could not look.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from demo import oracle
from demo import scenario as scenarios
from demo.books import Account, balance_alerts, balance_latest, balance_reports
from demo.lake import read_lake
from demo.reports import Report
from demo.scenario import LATEST_TOPIC, REPORTS_TOPIC, Scenario
from demo.topics import read_alerts, read_reports

COLUMNS = ("expected", "found", "lost", "duplicated", "changed", "unknown")


def check(scenario: Scenario, bootstrap_servers: str, lake: Path) -> list[Account]:
    by_truck = oracle.expected_reports(scenario)
    reports = {report[:2]: report for its in by_truck.values() for report in its}
    topic = read_reports(bootstrap_servers, REPORTS_TOPIC)
    latest = read_reports(bootstrap_servers, LATEST_TOPIC)
    alerts = read_alerts(bootstrap_servers)
    return [
        balance_reports("events in the topic", reports, topic),
        check_lake(reports, lake),
        balance_latest(reports, oracle.expected_latest(by_truck), latest),
        balance_alerts(oracle.expected_alerts(scenario, by_truck), alerts),
    ]


def check_lake(reports: dict[tuple[str, int], Report], lake: Path) -> Account:
    content = read_lake(lake)
    account = balance_reports("events in the lake", reports, content.reports())
    account.notes[:0] = content.damage
    return account


def table(accounts: list[Account]) -> str:
    lines = [" " * 22 + "".join(f"{name:>12}" for name in COLUMNS)]
    for account in accounts:
        numbers = "".join(f"{getattr(account, name):>12,}" for name in COLUMNS)
        lines.append(f"{account.what:<22}{numbers}")
        lines += [f"    {note}" for note in account.notes]
    return "\n".join(lines)


def run(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    scenario = scenarios.from_arguments(arguments)
    accounts = check(scenario, arguments.bootstrap, arguments.lake)
    if arguments.result:
        arguments.result.write_text(json.dumps([asdict(each) for each in accounts]))
    say(table(accounts))
    return 0 if all(account.is_balanced for account in accounts) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--lake", required=True, type=Path)
    parser.add_argument("--result", type=Path, help="a file for the result as JSON")
    scenarios.add_arguments(parser)
    try:
        return run(parser.parse_args(), print)
    except Exception as error:  # not the same as a difference: nothing was compared
        print(f"the checker could not look: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
