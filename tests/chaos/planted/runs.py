"""Runs that look for planted bugs, and what they found: one line of JSON each.

    python -m tests.chaos.planted lso-too-eager index-off-by-one
    python -m tests.chaos.planted all
    python -m tests.chaos.planted.simulated dedup-window-of-one

`docs/reference/planted-bugs.md` is made of the lines.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.chaos.planted.plant import plants
from tests.chaos.run import Outcome, Plan

CLUSTER_SIMULATION = "tests/simulation/cluster"
PATH = Path(__file__).with_name("found.jsonl")


@dataclass(frozen=True)
class Search:
    """One run, or the tests that stand for it."""

    date: str
    plant: str
    by: str  # the faults of the run, or the tests
    seed: int
    seconds: int
    found: dict[str, int]  # anomalies and other problems


def plan_to_find(name: str) -> Plan:
    plant = plants()[name]
    return Plan(
        seed=0,
        kinds=list(plant.kinds),
        seconds=plant.seconds,
        rate=300.0,
        hold_s=plant.hold_s,
        quiet_s=(0.2, 1.0),
        recovery_s=60.0,
        drain_s=60.0,
        plant=name,
    )


# What a busy machine, or a fault of a client library, can cause as well
WEAK = {"clients", "completion", "faults", "recovery", "broker logs"}


def is_found(search: Search) -> bool:
    """Whether what was found is a sign of this bug."""
    return bool(set(search.found) - WEAK) or plants()[search.plant].expected in search.found


def found_in(outcome: Outcome) -> dict[str, int]:
    """By the class of the anomaly, or by what was required."""
    found = Counter(each.anomaly.value for each in outcome.verdict.illegal)
    found.update({name: len(each) for name, each in outcome.problems.items() if each})
    if outcome.hung:  # by a fault of the client: what it has not done says nothing of the bug
        del found["completion"]
    return dict(found)


def add(search: Search) -> None:
    with open(PATH, "a") as file:
        file.write(json.dumps(asdict(search)) + "\n")


def searches() -> list[Search]:
    if not PATH.exists():
        return []
    return [Search(**json.loads(line)) for line in PATH.read_text().splitlines()]
