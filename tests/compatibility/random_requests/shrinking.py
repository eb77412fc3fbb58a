"""A sequence that ends in a difference, made as short as it can be without losing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.compatibility.differential.comparing import Difference
from tests.compatibility.random_requests.request_sequence import RequestSequence, Step, words_of

TRIES_MAX = 50
SHOWN_MAX = 12
Judge = Callable[[RequestSequence], list[Difference]]


class Found(NamedTuple):
    sequence: RequestSequence
    differences: list[Difference]

    def __str__(self) -> str:
        words = [words_of(step) for step in self.sequence.steps]
        steps = [f"  {number:2} {step}" for number, step in enumerate(words)]
        reported = "\n".join(f"  {each}" for each in self.differences[:SHOWN_MAX])
        for number, step in enumerate(words):
            reported = reported.replace(f"{number} {step}", f"#{number}")
        return "\n".join(
            [f"sequence {self.sequence.area.name} {self.sequence.seed}:", *steps, reported]
        )


def shrink(found: Found, judge: Judge) -> Found:
    """The same difference with fewer steps: larger parts are left out first, then single steps."""
    wanted = kinds(found.differences)
    size = max(1, len(found.sequence.steps) // 2)
    tries = 0
    while size:
        at = 0
        while at < len(found.sequence.steps) and tries < TRIES_MAX:
            tries += 1
            shorter = found.sequence._replace(steps=without(found.sequence.steps, at, size))
            differences = judge(shorter)
            if wanted & kinds(differences):
                found = Found(shorter, differences)
            else:
                at += size
        size //= 2
    return found


def without(steps: Sequence[Step], at: int, size: int) -> tuple[Step, ...]:
    return (*steps[:at], *steps[at + size :])


def kinds(differences: Sequence[Difference]) -> set[tuple[str, str]]:
    """Which API, and where in its answer: shrinking must not wander off to something else."""
    return {(each.run.script.key.name, each.path) for each in differences}
