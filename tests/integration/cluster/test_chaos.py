"""A short run of random faults; `make faults` has a long one."""

from __future__ import annotations

import os
import random

import pytest
from tests.integration.cluster.chaos import run

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("cluster-chaos")]
SECONDS = 12.0


def test_nothing_acknowledged_is_lost_or_doubled_by_random_faults() -> None:
    seed = int(os.environ.get("OTTLA_CHAOS_SEED") or random.randrange(10**6))
    run(seed, SECONDS)
