"""Planted bugs fit the code that they replace, and the page about them is of bugs that exist."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.chaos.faults.kinds import KINDS
from tests.chaos.planted.plant import plants, target_of
from tests.chaos.planted.runs import searches

from ottla.base.fault_points import FaultPoint


@pytest.mark.parametrize("name", plants())
def test_what_a_bug_replaces_exists(name: str) -> None:
    plant = plants()[name]
    for patch in plant.patches:
        real = getattr(target_of(patch), patch.name)
        assert type(patch.make(real)) in (type(real), type(lambda: None))
    assert plant.kinds or plant.test
    assert set(plant.kinds) <= set(KINDS)


def test_searches_are_for_bugs_that_exist() -> None:
    assert {each.plant for each in searches()} <= set(plants())


def test_a_bug_changes_the_process_that_it_is_planted_in() -> None:
    program = (
        "from tests.chaos.planted.plant import apply\n"
        "from ottla.storage.producers.producer_state import ProducerStates\n"
        "before = ProducerStates.last_stable_offset\n"
        "apply('lso-too-eager')\n"
        "assert ProducerStates.last_stable_offset is not before\n"
        "assert ProducerStates.last_stable_offset(None, 7) == 7\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_there_is_a_kill_at_every_step() -> None:
    assert len(KINDS["step"]) == len(FaultPoint) == 12
