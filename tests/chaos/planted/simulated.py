"""Look for a planted bug in the simulation of a whole cluster: as `make simulation` runs it.

python -m tests.chaos.planted.simulated dedup-window-of-one
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from datetime import UTC, datetime

from tests.chaos.planted.plant import apply, plants
from tests.chaos.planted.runs import CLUSTER_SIMULATION, Search, add

SEEDS = 50  # as `make simulation`


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=plants())
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args()
    apply(given.name)  # before what it changes is imported by name
    from tests.simulation.cluster.world import SeedFailed, run_seed

    logging.disable(logging.CRITICAL)  # brokers report each fault
    began_s, found, seed = time.process_time(), {}, 0
    for seed in range(1, given.seeds + 1):
        try:
            run_seed(seed)
        except SeedFailed as failed:
            print(str(failed).splitlines()[0])
            found = {"violations": 1}
            break
    date, seconds = f"{datetime.now(UTC):%Y-%m-%d}", round(time.process_time() - began_s)
    add(Search(date, given.name, CLUSTER_SIMULATION, seed, seconds, found))
    print(f"PLANTED {given.name}: {f'found by seed {seed}' if found else 'not found'}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
