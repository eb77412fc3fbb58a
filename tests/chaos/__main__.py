"""Random faults in a cluster, and the proof that nothing was lost, doubled or reordered.

python -m tests.chaos --seconds 60 --seed 7 --faults kill,pause,cut
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.chaos.faults.kinds import ALL, NEEDS_REPLICATION, kinds_named
from tests.chaos.report import report
from tests.chaos.run import Plan, Run

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "chaos"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long faults are injected")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--faults", default="all", help=f"of {', '.join(ALL)}")
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--replication", type=int, default=3)
    parser.add_argument("--rate", type=float, default=300.0, help="records per second")
    parser.add_argument("--keep", action="store_true", help="keep the files of a successful run")
    arguments = parser.parse_args()
    kinds = kinds_named(arguments.faults)
    if arguments.replication == 1:
        kinds = [each for each in kinds if each not in NEEDS_REPLICATION]
    plan = Plan(
        arguments.seed,
        kinds,
        arguments.seconds,
        arguments.brokers,
        arguments.replication,
        arguments.rate,
    )
    return execute(plan, keeps=arguments.keep)


def execute(plan: Plan, *, keeps: bool = False) -> int:
    """Run it and print the report; the exit code."""
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
    return 1 if outcome.has_failed else 0


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
