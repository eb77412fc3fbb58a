"""Half a minute of faults; `make chaos` and `make faults` have long runs."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.chaos.__main__ import execute
from tests.chaos.campaigns import CAMPAIGNS
from tests.chaos.report import report

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("chaos")]


def test_nothing_is_lost_doubled_or_reordered_by_half_a_minute_of_faults(tmp_path: Path) -> None:
    seed = int(os.environ.get("OTTLA_CHAOS_SEED") or random.randrange(10**6))
    outcome = execute(replace(CAMPAIGNS["short"], seed=seed))
    assert not outcome.has_failed, report(outcome)
    assert outcome.verdict.acknowledged > 0
    assert outcome.events
