"""Runs seeds of the simulation of a whole cluster; about 25 of them in a minute.

python -m tests.simulation.cluster.run --seeds 200 --first 1
python -m tests.simulation.cluster.run --seed 17    # with its events
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time

from tests.simulation.cluster.world import SeedFailed, run_seed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.cluster.run")
    parser.add_argument("--seeds", type=int, default=50, help="how many")
    parser.add_argument("--first", type=int, default=random.randrange(10**9))
    parser.add_argument("--seed", type=int, help="this one alone, with its events and all logs")
    given = parser.parse_args()
    if given.seed is not None:
        logging.basicConfig(level=logging.INFO)
        return show(given.seed)
    logging.disable(logging.CRITICAL)  # brokers report each fault
    return run_many(given.first, given.seeds)


def show(seed: int) -> int:
    try:
        print(*run_seed(seed).events, sep="\n")
    except SeedFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def run_many(first: int, count: int) -> int:
    print(f"seeds {first} to {first + count - 1}", flush=True)
    began_s = time.process_time()
    acknowledged = failures = 0
    virtual_s = 0.0
    for seed in range(first, first + count):
        try:
            world = run_seed(seed)
        except SeedFailed as failed:
            print(failed, flush=True)
            failures += 1
        else:
            acknowledged += world.acknowledged
            virtual_s += world.loop.time()
    took_s = time.process_time() - began_s
    print(
        f"{count - failures} seeds passed, {failures} failed, {acknowledged} acknowledged, "
        f"{virtual_s:.0f} s of virtual time, {took_s:.0f} s of CPU time"
    )
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
