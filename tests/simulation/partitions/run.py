"""Runs seeds of the simulation of one partition.

python -m tests.simulation.partitions.run --seeds 5000 --first 1
python -m tests.simulation.partitions.run --seed 17    # with its events
python -m tests.simulation.partitions.run --planted    # how many seeds find each planted fault
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from hashlib import sha256

from tests.simulation.partitions.planted import PLANTED, planted
from tests.simulation.partitions.world import RandomSteps, World

STEPS = 300
EVENTS_SHOWN = 60


class SeedFailed(AssertionError):
    """What was wrong, with the seed and the events before it."""

    def __init__(self, seed: int, world: World, error: Exception) -> None:
        shown = "\n".join(world.events[-EVENTS_SHOWN:])
        count = len(world.events)
        super().__init__(f"seed {seed}: {error!r}, after {count} events:\n{shown}")
        self.seed, self.events, self.error = seed, world.events, error


def run_seed(seed: int, steps: int = STEPS) -> World:
    """SeedFailed if something was wrong. One seed in four requires a sync of each record."""
    world = World(seed, flush_messages=1 if seed % 4 == 3 else None)
    try:
        RandomSteps(world).run(steps)
        world.settle()
    except Exception as error:
        raise SeedFailed(seed, world, error) from error
    return world


def digest(world: World) -> str:
    return sha256("\n".join(world.events).encode()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.partitions.run")
    parser.add_argument("--seeds", type=int, default=5000, help="how many")
    parser.add_argument("--first", type=int, default=random.randrange(10**9))
    parser.add_argument("--seed", type=int, help="this one alone, with its events")
    parser.add_argument("--planted", nargs="*", help="find planted faults: these, or all")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)  # recovery reports what it finds
    try:
        if given.planted is not None:
            return find_planted(given.planted or list(PLANTED), given.first, given.seeds)
        if given.seed is not None:
            print(*run_seed(given.seed).events, sep="\n")
        else:
            run_many(given.first, given.seeds)
    except SeedFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def find_planted(names: list[str], first: int, count: int) -> int:
    missed = 0
    for name in names:
        with planted(name):
            failures = ((seed, failure(seed)) for seed in range(first, first + count))
            found = next(((seed, each) for seed, each in failures if each is not None), None)
        missed += found is None
        if found is None:
            print(f"{name}: not found by {count} seeds", flush=True)
        else:
            print(
                f"{name}: found by seed number {found[0] - first + 1}: {found[1].error!r}"[:150],
                flush=True,
            )
    print(f"{len(names) - missed} of {len(names)} planted faults found")
    return min(missed, 1)


def failure(seed: int) -> SeedFailed | None:
    try:
        run_seed(seed)
    except SeedFailed as failed:
        return failed
    return None


def run_many(first: int, count: int) -> None:
    print(f"seeds {first} to {first + count - 1}", flush=True)
    began_s = time.process_time()
    events = acknowledged = 0
    for seed in range(first, first + count):
        world = run_seed(seed)
        events += len(world.events)
        acknowledged += len(world.judge.acknowledged)
    took_s = time.process_time() - began_s
    print(
        f"{count} seeds, {events} events, {acknowledged} acknowledged, {took_s:.0f} s of CPU time"
    )


if __name__ == "__main__":
    sys.exit(main())
