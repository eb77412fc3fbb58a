"""Three replicas of a partition under faults: committed records stay, and all logs become equal.

`run.py` runs more seeds (`make simulation`). A failing seed replays: `run_seed(SEED)`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from tests.simulation.partitions.planted import PLANTED, planted
from tests.simulation.partitions.replica import Violation
from tests.simulation.partitions.run import failure, run_seed
from tests.simulation.partitions.scripts import SCRIPTS, Script
from tests.simulation.partitions.world import World

SEEDS = 100
PLANTED_SEEDS = 250  # each planted fault is found in fewer
# Not found by so few seeds: the first by a script, the second by about 500 seeds, and the third not
# by 600: a late request that is refused by its epoch alone must add a replica that lags.
RARE = (
    "any incarnation may be in sync",
    "progress of earlier processes",
    "in-sync changes of any epoch",
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Recovery reports what it finds."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("part", range(4))
def test_committed_records_survive(part: int) -> None:
    worlds = [run_seed(seed) for seed in range(part, SEEDS, 4)]
    assert sum(len(each.judge.acknowledged) for each in worlds) > 3 * len(worlds)


def test_a_seed_replays() -> None:
    assert run_seed(1).events == run_seed(1).events != run_seed(2).events


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_committed_records_survive_a_known_way_to_lose_them(script: Script) -> None:
    for seed in range(10):
        run_script(script, seed)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_the_script_finds_what_it_is_for(script: Script) -> None:
    with planted(SCRIPTS[script]), pytest.raises(Violation):
        run_script(script, 1)


@pytest.mark.parametrize("name", [each for each in PLANTED if each not in RARE])
def test_random_steps_find_a_planted_fault_which_replays(name: str) -> None:
    with planted(name):
        failures = (failure(seed) for seed in range(PLANTED_SEEDS))
        failed = next(filter(None, failures), None)
        assert failed is not None, f"{PLANTED_SEEDS} seeds found nothing"
        again = failure(failed.seed)
    assert again is not None
    assert (again.events, repr(again.error)) == (failed.events, repr(failed.error))


def run_script(script: Script, seed: int) -> None:
    world = World(seed)
    script(world)
    world.check()
    world.settle()
