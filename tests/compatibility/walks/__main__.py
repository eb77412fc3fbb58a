"""Walks from the command line.

python -m tests.compatibility.walks groups --seed 7 --walks 200
python -m tests.compatibility.walks groups --seed 7 --only 31
python -m tests.compatibility.walks kafka          # a Kafka to use again with --kafka ADDRESS
"""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import ExitStack

from tests.compatibility.walks.nodes import kafka_for_walks, ours_for_walks
from tests.compatibility.walks.playing import Brokers
from tests.compatibility.walks.walk import area_called
from tests.compatibility.walks.walking import STEPS_COUNT, drawn_walks, walk_all


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility.walks")
    parser.add_argument("area", help="whose walks; or 'kafka', to start one and wait")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--walks", type=int, default=100)
    parser.add_argument("--only", type=int, help="this walk alone")
    parser.add_argument("--steps", type=int, default=STEPS_COUNT)
    parser.add_argument("--found-max", type=int, default=3)
    parser.add_argument("--kafka", help="address of one that runs")
    given = parser.parse_args()
    if given.area == "kafka":
        return serve_kafka()
    numbers = range(given.walks) if given.only is None else [given.only]
    with ExitStack() as stack:
        ours = stack.enter_context(ours_for_walks()).bootstrap_servers
        brokers = Brokers(given.kafka or stack.enter_context(kafka_for_walks()), ours)
        walks = drawn_walks(area_called(given.area), given.seed, numbers, given.steps)
        tally = walk_all(walks, brokers, lambda text: print(text, flush=True), given.found_max)
    print(tally)
    return 0 if tally.is_good else 1


def serve_kafka() -> int:
    with kafka_for_walks() as address:
        print(address, flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    sys.exit(main())
