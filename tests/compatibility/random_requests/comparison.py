"""Many sequences one after the other: what was found, and how much was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from tests.compatibility.differential.comparing import Difference
from tests.compatibility.random_requests.execution import Brokers, differences_of
from tests.compatibility.random_requests.request_sequence import (
    Area,
    RequestSequence,
    draw_sequence,
)
from tests.compatibility.random_requests.shrinking import Found, shrink

STEPS_COUNT = 40
REPORT_EVERY = 25  # sequences
TRANSIENT_MAX = 2  # in one run: more of them are a fault, however the race ends


class Tally(NamedTuple):
    sequences: int
    steps: int
    found: list[Found]
    transient: list[Found]  # that did not come again: a race of one of the brokers, or of both

    @property
    def is_good(self) -> bool:
        return not self.found and len(self.transient) <= TRANSIENT_MAX

    def __str__(self) -> str:
        return (
            f"{self.sequences} sequences, {self.steps} steps, {len(self.found)} with a difference,"
            f" {len(self.transient)} with one that did not come again"
        )


def compare_all(
    sequences: Iterable[RequestSequence],
    brokers: Brokers,
    report: Callable[[str], None],
    found_max: int = 1,
) -> Tally:
    """Until `found_max` sequences have ended in a difference; each is shrunk and reported."""
    tally = Tally(0, 0, [], [])
    for sequence in sequences:
        differences = differences_of(sequence, brokers)
        tally = tally._replace(
            sequences=tally.sequences + 1, steps=tally.steps + len(sequence.steps)
        )
        if tally.sequences % REPORT_EVERY == 0:
            report(str(tally))
        if not differences:
            continue
        once = Found(sequence, differences)
        if not (differences := differences_of(sequence, brokers)):
            tally.transient.append(once)
            report(f"not again: {once}")
            continue
        found = shrink(once._replace(differences=differences), partial(judge, brokers))
        tally.found.append(found)
        report(str(found))
        if len(tally.found) >= found_max:
            break
    return tally


def judge(brokers: Brokers, sequence: RequestSequence) -> list[Difference]:
    return differences_of(sequence, brokers)


def drawn_sequences(
    area: Area, seed: int, numbers: Iterable[int], steps_count: int = STEPS_COUNT
) -> Iterable[RequestSequence]:
    for number in numbers:
        yield draw_sequence(area, f"{seed}.{number}", steps_count)
