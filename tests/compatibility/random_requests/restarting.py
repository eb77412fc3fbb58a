"""Random requests with a pause, during which both brokers are stopped and started again.

    python -m tests.compatibility.random_requests.restarting groups --seed 7 --sequences 10

What was acknowledged is there afterwards; what was waited for, and what lived in connections, is
continued both. All sequences of a run pause at the same time, so they must not take too long for
members of groups. Requests of administrators change what all of them use, and cannot pause
together; nor can those of transactions, whose producers write records of long ago (see below).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from tests.compatibility.differential.comparing import Difference
from tests.compatibility.differential.plain import Plain
from tests.compatibility.differential.readiness import make_ready
from tests.compatibility.random_requests.comparison import STEPS_COUNT, drawn_sequences
from tests.compatibility.random_requests.execution import Execution, first_differences
from tests.compatibility.random_requests.nodes import both_nodes
from tests.compatibility.random_requests.request_sequence import RequestSequence, Step, area_called
from tests.compatibility.random_requests.shrinking import Found

# What is left out:
# With Kafka a broker that stops gives up all partitions, and leads them in another epoch when it is
# back; ours continues in the same one.
# Kafka forgets producers whose last records have an old time when it starts, and periodically, ours
# periodically; and the records of sequences are of long ago.
OF_EPOCHS = {"epoch", "last_epoch", "current"}
EPOCH = re.compile(r", partition_leader_epoch \d+")


def is_left_out(step: Step) -> bool:
    is_of_epoch = OF_EPOCHS & dict(getattr(step, "details", ())).keys()
    return bool(is_of_epoch) or any(each.producer >= 0 for each in getattr(step, "batches", ()))


def is_leader_epoch(difference: Difference, _kafka: Plain, _ours: Plain) -> bool:
    path, one, other = difference[2:]
    if path.endswith("leader_epoch"):
        return True
    return path.endswith("records") and EPOCH.sub("", str(one)) == EPOCH.sub("", str(other))


def with_restart(sequence: RequestSequence) -> RequestSequence:
    area = sequence.area._replace(tolerated=[*sequence.area.tolerated, is_leader_epoch])
    steps = tuple(step for step in sequence.steps if not is_left_out(step))
    return sequence._replace(area=area, steps=steps)


class Side(NamedTuple):
    address: str
    restart: Callable[[], object]


def compare_over_restart(sequences: Sequence[RequestSequence], *sides: Side) -> list[Found]:
    """Kafka's side and ours. The sequences that ended in a difference; all are executed at once."""
    first = random.SystemRandom().randrange(10**6)
    with ThreadPoolExecutor(2) as pool:
        of_kafka, of_ours = pool.map(lambda side: execute_all(side, sequences, first), sides)
    found = [
        Found(sequence, first_differences(sequence.area, one.recorded, other.recorded))
        for sequence, one, other in zip(sequences, of_kafka, of_ours, strict=True)
    ]
    return [each for each in found if each.differences]


def execute_all(side: Side, sequences: Sequence[RequestSequence], first: int) -> list[Execution]:
    executions = [
        Execution(side.address, sequence, first + at) for at, sequence in enumerate(sequences)
    ]
    for sequence, execution in zip(sequences, executions, strict=True):
        execution.go(len(sequence.steps) // 2)
        execution.pause()
    side.restart()
    make_ready(side.address)
    for execution in executions:
        execution.go()
        execution.pause()
    return executions


@contextmanager
def both_sides() -> Iterator[tuple[Side, Side]]:
    with both_nodes() as (kafka, ours):

        def restart_kafka() -> None:
            kafka.stop()
            kafka.start()

        yield Side(kafka.bootstrap, restart_kafka), Side(ours.bootstrap_servers, ours.restart)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.compatibility.random_requests.restarting"
    )
    parser.add_argument("area")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sequences", type=int, default=10)
    parser.add_argument("--only", type=int, help="this sequence alone")
    parser.add_argument("--steps", type=int, default=STEPS_COUNT)
    given = parser.parse_args()
    numbers = range(given.sequences) if given.only is None else [given.only]
    drawn = drawn_sequences(area_called(given.area), given.seed, numbers, given.steps)
    sequences = [with_restart(sequence) for sequence in drawn]
    with both_sides() as sides:
        found = compare_over_restart(sequences, *sides)
    print(*found, f"{len(sequences)} sequences, {len(found)} with a difference", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
