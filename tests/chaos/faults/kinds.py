"""The kinds of faults by name, and how a run draws from them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.chaos.faults.administration import CONFIGURE, ELECT, REASSIGN, TOPICS
from tests.chaos.faults.context import Fault
from tests.chaos.faults.network import CUT, DELAY, FLIP, LOSE, RESET, STRAND
from tests.chaos.faults.processes import (
    CLIENT,
    KILL,
    KILL_ONE,
    LAST,
    MEMBER,
    PAUSE,
    REPLACE,
    ROLL,
    TERMINATE,
    ZOMBIE,
    ZOOKEEPER,
)
from tests.chaos.faults.steps import STEP

KINDS: dict[str, list[Fault]] = {
    "kill": KILL,
    "kill-one": KILL_ONE,
    "term": TERMINATE,
    "pause": PAUSE,
    "zookeeper": ZOOKEEPER,
    "cut": CUT,
    "delay": DELAY,
    "reset": RESET,
    "lose": LOSE,
    "roll": ROLL,
    "elect": ELECT,
    "reassign": REASSIGN,
    "configure": CONFIGURE,
    "topics": TOPICS,
    "client": CLIENT,
    "member": MEMBER,
    "strand": STRAND,
    "last": LAST,
    "flip": FLIP,
    "zombie": ZOMBIE,
    "replace": REPLACE,
    "step": STEP,
}
ALL = tuple(each for each in KINDS if each != "kill-one")  # "kill" has it too
NEEDS_REPLICATION = ("elect", "reassign", "strand", "last")


def kinds_named(text: str) -> list[str]:
    """As the option of the command line lists them."""
    names = list(ALL) if text == "all" else [each.strip() for each in text.split(",")]
    for name in names:
        if name not in KINDS:
            raise ValueError(f"{name} is no kind of fault; there are {', '.join(KINDS)}")
    return names


def draws(kinds: list[str], rng: random.Random) -> Iterator[tuple[str, Fault]]:
    """Without an end. Every kind comes once before any comes again, and so do the faults of each
    kind: a short run has them all."""
    rounds = {kind: list[Fault]() for kind in kinds}
    while True:
        for kind in rng.sample(kinds, len(kinds)):
            if not rounds[kind]:
                rounds[kind] = rng.sample(KINDS[kind], len(KINDS[kind]))
            yield kind, rounds[kind].pop()
