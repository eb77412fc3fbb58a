"""Whole brokers in one process and in virtual time: no acknowledged record is lost.

`OTTLA_SIMULATION_SEEDS=500` runs more seeds, as `run.py` does. A failing seed replays:
`python -m tests.simulation.cluster.run --seed SEED`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from tests.simulation.cluster.world import SeedFailed, run_seed

from ottla.replication.partition_state import LeaderState

SEEDS = int(os.environ.get("OTTLA_SIMULATION_SEEDS", "6"))
PLANTED_SEEDS = 10


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
@pytest.mark.xfail(
    reason="the cause is not found yet; perhaps the order of sets of objects, by their addresses",
    strict=False,
)
def test_a_seed_replays() -> None:
    assert run_seed(1).events == run_seed(1).events


def commit_at_once(
    _state: LeaderState, current: int, own_end: int, _min_in_sync_replicas: int
) -> int:
    return max(current, own_end)


@pytest.mark.slow
def test_a_leader_that_does_not_wait_for_followers_is_found() -> None:
    with patch.object(LeaderState, "high_watermark", commit_at_once):
        found = next(filter(None, map(failure, range(PLANTED_SEEDS))), None)
    assert found is not None
    assert "was acknowledged" in str(found.error)


def failure(seed: int) -> SeedFailed | None:
    try:
        run_seed(seed)
    except SeedFailed as failed:
        return failed
    return None
