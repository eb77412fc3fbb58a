"""Runs seeds of the simulation of a whole cluster; about 25 of them in a minute.

python -m tests.simulation.cluster.run --seeds 200 --first 1
python -m tests.simulation.cluster.run --seed 17    # with its events
python -m tests.simulation.cluster.run --seed 17 --trace FILE    # and everything that was sent
python -m tests.simulation.cluster.run --world flushed    # or damaged: see disk_worlds.py

Two runs of the same seeds print the same hash of their traces.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

from tests.simulation.cluster.disk_worlds import DamagedWorld, FlushedWorld
from tests.simulation.cluster.trace import SHOWN_DIGITS
from tests.simulation.cluster.world import SeedFailed, World, run_seed

WORLDS: dict[str, type[World]] = {
    "usual": World, "flushed": FlushedWorld, "damaged": DamagedWorld
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.cluster.run")
    parser.add_argument("--seeds", type=int, default=50, help="how many")
    parser.add_argument("--first", type=int, default=random.randrange(10**9))
    parser.add_argument("--seed", type=int, help="this one alone, with its events and all logs")
    parser.add_argument("--trace", type=Path, help="write everything that was sent to this file")
    parser.add_argument("--world", choices=WORLDS, default="usual")
    given = parser.parse_args()
    kind = WORLDS[given.world]
    if given.seed is not None:
        logging.basicConfig(level=logging.INFO)
        return show(given.seed, given.trace, kind)
    logging.disable(logging.CRITICAL)  # brokers report each fault
    return run_many(given.first, given.seeds, kind)


def show(seed: int, file: Path | None, kind: type[World]) -> int:
    try:
        world = run_seed(seed, kind)
    except SeedFailed as failed:
        print(failed, file=sys.stderr)
        trace, code = failed.trace, 1
    else:
        print(*world.events, sep="\n")
        trace, code = world.trace, 0
    if file is not None:
        file.write_text("\n".join(trace.lines))
    print(f"trace #{trace.digest}, {len(trace.lines)} lines")
    return code


def run_many(first: int, count: int, kind: type[World]) -> int:
    print(f"seeds {first} to {first + count - 1}", flush=True)
    began_s = time.process_time()
    acknowledged = failures = 0
    virtual_s, digests = 0.0, sha256()
    faults: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            world = run_seed(seed, kind)
        except SeedFailed as failed:
            print(failed, flush=True)
            failures += 1
            digests.update(failed.trace.digest.encode())
        else:
            acknowledged += world.acknowledged
            virtual_s += world.loop.time()
            faults.update(world.faults)
            digests.update(world.trace.digest.encode())
    took_s = time.process_time() - began_s
    print(", ".join(f"{count} {what}" for what, count in sorted(faults.items())))
    print(
        f"{count - failures} seeds passed, {failures} failed, {acknowledged} acknowledged, "
        f"{virtual_s:.0f} s of virtual time, {took_s:.0f} s of CPU time, "
        f"traces #{digests.hexdigest()[:SHOWN_DIGITS]}"
    )
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
