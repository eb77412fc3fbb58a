"""Walks with a rest on the way, during which both brokers are stopped and started again.

    python -m tests.compatibility.walks.restarting groups --seed 7 --walks 10

What was acknowledged is there afterwards; what was waited for, and what lived in connections, is
gone on both. All walks of a run rest at the same time, so they must not take too long for members
of groups. Walks of administrators change what all of them stand on, and cannot rest together; nor
can walks through transactions, whose producers write records of long ago (see below).
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
from tests.compatibility.walks.nodes import both_nodes
from tests.compatibility.walks.playing import Playing, first_differences
from tests.compatibility.walks.shrinking import Found
from tests.compatibility.walks.walk import Step, Walk, area_called
from tests.compatibility.walks.walking import STEPS_COUNT, drawn_walks

# What is left out:
# With Kafka a broker that stops gives up all partitions, and leads them in another epoch when it is
# back; ours goes on in the same one.
# Kafka forgets producers whose last records have an old time when it starts, and now and then, ours
# now and then; and the records of walks are of long ago.
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


def with_a_rest(walk: Walk) -> Walk:
    area = walk.area._replace(excuses=[*walk.area.excuses, is_leader_epoch])
    steps = tuple(step for step in walk.steps if not is_left_out(step))
    return walk._replace(area=area, steps=steps)


class Side(NamedTuple):
    address: str
    restart: Callable[[], None]


def walk_over_restart(walks: Sequence[Walk], *sides: Side) -> list[Found]:
    """Kafka's side and ours. The walks that ended in a difference; all are played at once."""
    first = random.SystemRandom().randrange(10**6)
    with ThreadPoolExecutor(2) as pool:
        of_kafka, of_ours = pool.map(lambda side: play_all(side, walks, first), sides)
    found = [
        Found(walk, first_differences(walk.area, one.played, other.played))
        for walk, one, other in zip(walks, of_kafka, of_ours, strict=True)
    ]
    return [each for each in found if each.differences]


def play_all(side: Side, walks: Sequence[Walk], first: int) -> list[Playing]:
    playings = [Playing(side.address, walk, first + at) for at, walk in enumerate(walks)]
    for walk, playing in zip(walks, playings, strict=True):
        playing.go(len(walk.steps) // 2)
        playing.pause()
    side.restart()
    make_ready(side.address)
    for playing in playings:
        playing.go()
        playing.pause()
    return playings


@contextmanager
def both_sides() -> Iterator[tuple[Side, Side]]:
    with both_nodes() as (kafka, ours):

        def restart_kafka() -> None:
            kafka.stop()
            kafka.start()

        yield Side(kafka.bootstrap, restart_kafka), Side(ours.bootstrap_servers, ours.restart)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility.walks.restarting")
    parser.add_argument("area")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--walks", type=int, default=10)
    parser.add_argument("--only", type=int, help="this walk alone")
    parser.add_argument("--steps", type=int, default=STEPS_COUNT)
    given = parser.parse_args()
    numbers = range(given.walks) if given.only is None else [given.only]
    drawn = drawn_walks(area_called(given.area), given.seed, numbers, given.steps)
    walks = [with_a_rest(walk) for walk in drawn]
    with both_sides() as sides:
        found = walk_over_restart(walks, *sides)
    print(*found, f"{len(walks)} walks, {len(found)} with a difference", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
