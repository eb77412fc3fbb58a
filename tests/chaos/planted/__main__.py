"""Look for planted bugs: `python -m tests.chaos.planted NAME...`, or `all`."""

from __future__ import annotations

import argparse
import os
import random
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime

from tests.chaos.__main__ import ROOT, execute
from tests.chaos.planted.plant import PLANT, plants
from tests.chaos.planted.runs import Search, add, found_in, is_found, plan_to_find


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*plants(), "all"])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--tests", action="store_true", help="run only the tests, no processes")
    arguments = parser.parse_args()
    names = list(plants()) if "all" in arguments.names else arguments.names
    missed = []
    for name in names:
        done = search(name, arguments.seed, is_test=arguments.tests)
        add(done)
        print(f"PLANTED {name}: {done.found or 'not found'}", flush=True)
        if not is_found(done):
            missed.append(name)
    print(f"{len(names) - len(missed)} found, {len(missed)} missed: {', '.join(missed)}")
    return 1 if missed else 0


def search(name: str, seed: int, *, is_test: bool) -> Search:
    """Run what must find it."""
    plant = plants()[name]
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    if is_test or not plant.kinds:
        began_s = time.monotonic()
        found = {"tests": failed_tests(name, plant.test)} if plant.test else {}
        found = {what: count for what, count in found.items() if count}
        seconds = round(time.monotonic() - began_s)
        return Search(date, name, plant.test.partition(" ")[0], 0, seconds, found)
    outcome = execute(replace(plan_to_find(name), seed=seed))
    seconds = round(outcome.seconds)
    return Search(date, name, ", ".join(plant.kinds), seed, seconds, found_in(outcome))


def failed_tests(name: str, tests: str) -> int:
    """How many fail with the bug planted, of those that pass without it."""
    plugin = ["-p", "tests.chaos.planted.plugin", "-p", "no:cacheprovider", "-q", "-n", "0"]
    command = [sys.executable, "-m", "pytest", *plugin, *shlex.split(tests)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, PLANT: name}, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):  # not even collected
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    return done.stdout.count("\nFAILED ")


if __name__ == "__main__":
    sys.exit(main())
