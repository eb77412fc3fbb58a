"""Whole brokers in one process and in virtual time: no acknowledged record is lost.

`OTTLA_SIMULATION_SEEDS=500` runs more seeds, as `run.py` does. A failing seed replays:
`python -m tests.simulation.cluster.run --seed SEED`.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.simulation.cluster.disk_worlds import DamagedWorld, FlushedWorld
from tests.simulation.cluster.world import SeedFailed, World, run_seed

from ottla.replication.partition_state import LeaderState

pytestmark = pytest.mark.ci

SEEDS = int(os.environ.get("OTTLA_SIMULATION_SEEDS", "6"))
PLANTED_SEEDS = 15
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Brokers report each fault."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_acknowledged_records_survive(seed: int) -> None:
    assert run_seed(seed).acknowledged > 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", [FlushedWorld, DamagedWorld])
def test_acknowledged_records_survive_worse_disks(kind: type[World]) -> None:
    assert run_seed(1, kind).acknowledged > 20


@pytest.mark.slow
def test_a_seed_replays_in_other_processes() -> None:
    """With another order of sets of strings, and other addresses of objects."""
    command = [sys.executable, "-m", "tests.simulation.cluster.run", "--first", "1", "--seeds", "2"]
    found = {traces_printed(command, hash_seed) for hash_seed in ("1", "2")}
    assert len(found) == 1


@pytest.mark.slow
def test_a_seed_replays_in_the_same_process() -> None:
    first, again, other = run_seed(1).trace, run_seed(1).trace, run_seed(2).trace
    assert first.lines == again.lines
    assert first.digest == again.digest != other.digest


def traces_printed(command: list[str], hash_seed: str) -> str:
    """The hash at the end of the output."""
    variables = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    output = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
    return output.stdout.split("#")[-1]


def commit_at_once(
    _state: LeaderState, current: int, own_end: int, _min_in_sync_replicas: int
) -> int:
    return max(current, own_end)


@pytest.mark.slow
def test_a_leader_that_does_not_wait_for_followers_is_found() -> None:
    with patch.object(LeaderState, "high_watermark", commit_at_once):
        found = next(filter(None, map(failure, range(PLANTED_SEEDS))), None)
    assert found is not None
    assert isinstance(found.error, AssertionError)


def failure(seed: int) -> SeedFailed | None:
    try:
        run_seed(seed)
    except SeedFailed as failed:
        return failed
    return None
