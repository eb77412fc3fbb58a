"""Many walks one after the other: what was found, and how much was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from tests.compatibility.differential.comparing import Difference
from tests.compatibility.walks.playing import Brokers, differences_of
from tests.compatibility.walks.shrinking import Found, shrink
from tests.compatibility.walks.walk import Area, Walk, draw_walk

STEPS_COUNT = 40
TOLD_EVERY = 25  # walks
PASSING_MAX = 2  # in one run: more of them are a fault, whoever wins the race


class Tally(NamedTuple):
    walks: int
    steps: int
    found: list[Found]
    passing: list[Found]  # that did not come again: a race of one of the brokers, or of both

    @property
    def is_good(self) -> bool:
        return not self.found and len(self.passing) <= PASSING_MAX

    def __str__(self) -> str:
        return (
            f"{self.walks} walks, {self.steps} steps, {len(self.found)} with a difference,"
            f" {len(self.passing)} with one that did not come again"
        )


def walk_all(
    walks: Iterable[Walk],
    brokers: Brokers,
    tell: Callable[[str], None],
    found_max: int = 1,
) -> Tally:
    """Until `found_max` walks have ended in a difference, each of which is shrunk and told."""
    tally = Tally(0, 0, [], [])
    for walk in walks:
        differences = differences_of(walk, brokers)
        tally = tally._replace(walks=tally.walks + 1, steps=tally.steps + len(walk.steps))
        if tally.walks % TOLD_EVERY == 0:
            tell(str(tally))
        if not differences:
            continue
        once = Found(walk, differences)
        if not (differences := differences_of(walk, brokers)):
            tally.passing.append(once)
            tell(f"not again: {once}")
            continue
        found = shrink(once._replace(differences=differences), partial(judge, brokers))
        tally.found.append(found)
        tell(str(found))
        if len(tally.found) >= found_max:
            break
    return tally


def judge(brokers: Brokers, walk: Walk) -> list[Difference]:
    return differences_of(walk, brokers)


def drawn_walks(
    area: Area, seed: int, numbers: Iterable[int], steps_count: int = STEPS_COUNT
) -> Iterable[Walk]:
    for number in numbers:
        yield draw_walk(area, f"{seed}.{number}", steps_count)
