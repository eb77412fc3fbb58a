"""Random faults in a cluster, and the proof that nothing was lost, doubled or reordered.

python -m tests.chaos --seconds 60 --seed 7 --faults kill,pause,cut
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tests.chaos.campaigns import CAMPAIGNS
from tests.chaos.faults.kinds import KINDS, NEEDS_REPLICATION, kinds_named
from tests.chaos.ledger import add
from tests.chaos.planted.plant import plants
from tests.chaos.planted.runs import plan_to_find
from tests.chaos.report import report, row
from tests.chaos.run import Outcome, Plan, Run

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "chaos"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="how long faults are injected (60)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--faults", help=f"of {', '.join(KINDS)} (all)")
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--replication", type=int, default=3)
    parser.add_argument("--rate", type=float, help="records per second (300)")
    parser.add_argument("--plant", choices=plants(), help="a bug that the run must find")
    parser.add_argument("--campaign", choices=CAMPAIGNS, help="a run with all of this given")
    parser.add_argument("--ledger", action="store_true", help="add the run to the ledger")
    parser.add_argument("--note", default="", help="for the ledger")
    parser.add_argument("--retry", action="store_true", help="once more if clients did not start")
    parser.add_argument("--keep", action="store_true", help="keep the files of a successful run")
    arguments = parser.parse_args()
    plan = plan_of(arguments)
    outcome = execute(plan, keeps=arguments.keep)
    if outcome.was_not_run and arguments.retry:  # the same seed; findings are never retried
        outcome = execute(plan, keeps=arguments.keep)
    if arguments.ledger:
        date = f"{datetime.now(UTC):%Y-%m-%d}"
        add(row(outcome, arguments.campaign or "-", date, arguments.note))
    return 1 if outcome.has_failed else 0


def plan_of(arguments: argparse.Namespace) -> Plan:
    plan = CAMPAIGNS[arguments.campaign or "short"]
    if arguments.plant:
        plan = plan_to_find(arguments.plant)
    kinds = plan.kinds if arguments.faults is None else kinds_named(arguments.faults)
    if arguments.replication == 1:
        kinds = [each for each in kinds if each not in NEEDS_REPLICATION]
    return replace(
        plan,
        seed=arguments.seed,
        kinds=kinds,
        seconds=arguments.seconds or plan.seconds,
        rate=arguments.rate or plan.rate,
        brokers=arguments.brokers,
        replication=arguments.replication,
    )


def execute(plan: Plan, *, keeps: bool = False) -> Outcome:
    """Run it and print the report."""
    directory = KEPT / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{plan.seed}"
    directory.mkdir(parents=True)
    say(f"seed {plan.seed}, faults {','.join(plan.kinds)}, files in {directory}")
    outcome = Run(plan, directory, say).run()
    text = report(outcome)
    (directory / "report.txt").write_text(
        "\n".join([*map(str, outcome.events), text, *map(str, outcome.verdict.illegal), ""])
    )
    print(text, flush=True)
    if outcome.has_failed or keeps:
        print(f"history, logs and data: {directory}", flush=True)
    else:
        shutil.rmtree(directory)
    return outcome


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
