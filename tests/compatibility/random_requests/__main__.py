"""Random requests from the command line.

python -m tests.compatibility.random_requests groups --seed 7 --sequences 200
python -m tests.compatibility.random_requests groups --seed 7 --only 31
python -m tests.compatibility.random_requests kafka    # a Kafka to use with --kafka ADDRESS
"""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import ExitStack

from tests.compatibility.random_requests.comparison import STEPS_COUNT, compare_all, drawn_sequences
from tests.compatibility.random_requests.execution import Brokers
from tests.compatibility.random_requests.nodes import both_clusters, running_kafka, running_ottla
from tests.compatibility.random_requests.request_sequence import area_called

CLUSTER_AREA = "brokers"  # whose requests go to three brokers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility.random_requests")
    parser.add_argument("area", help="whose requests; or 'kafka', to start one and wait")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--only", type=int, help="this sequence alone")
    parser.add_argument("--steps", type=int, default=STEPS_COUNT)
    parser.add_argument("--found-max", type=int, default=3)
    parser.add_argument("--kafka", help="address of one that runs")
    given = parser.parse_args()
    if given.area == "kafka":
        return serve_kafka()
    numbers = range(given.sequences) if given.only is None else [given.only]
    with ExitStack() as stack:
        if given.area == CLUSTER_AREA:
            brokers = stack.enter_context(both_clusters())
        else:
            brokers = two_brokers(stack, given.kafka)
        sequences = drawn_sequences(area_called(given.area), given.seed, numbers, given.steps)
        tally = compare_all(
            sequences, brokers, lambda text: print(text, flush=True), given.found_max
        )
    print(tally)
    return 0 if tally.is_good else 1


def two_brokers(stack: ExitStack, kafka: str | None) -> Brokers:
    ours = stack.enter_context(running_ottla()).bootstrap_servers
    return Brokers(kafka or stack.enter_context(running_kafka()), ours)


def serve_kafka() -> int:
    with running_kafka() as address:
        print(address, flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    sys.exit(main())
