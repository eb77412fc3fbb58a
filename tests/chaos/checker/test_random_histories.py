"""Correct histories have no findings, and each way to break one is found as what it is."""

from __future__ import annotations

import random
from functools import cache

import pytest
from tests.chaos.checker.anomalies import Anomaly
from tests.chaos.checker.breaking import BREAKS, Break
from tests.chaos.checker.check import check
from tests.chaos.checker.random_histories import random_history

SEEDS = 30
correct = cache(random_history)  # histories are immutable


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_correct_history_has_no_illegal_findings(seed: int) -> None:
    verdict = check(correct(seed))
    assert verdict.illegal == []
    assert verdict.acknowledged > 0


def test_correct_histories_have_the_anomalies_that_are_legal() -> None:
    found = {anomaly for seed in range(10) for anomaly in check(correct(seed)).counts}
    assert found == {Anomaly.INTERNAL_SEND_SKIP, Anomaly.WRITE_CYCLE}


@pytest.mark.parametrize("damage", BREAKS, ids=lambda each: each.__name__)
def test_a_broken_history_is_found(damage: Break) -> None:
    broken = 0
    for seed in range(SEEDS):
        history = damage(correct(seed), random.Random(seed))
        if history is not None:
            broken += 1
            assert check(history).count(BREAKS[damage]) > 0, f"seed {seed}"
    assert broken >= SEEDS // 3


def test_every_illegal_anomaly_of_a_history_has_a_way_to_break_it() -> None:
    others = {
        Anomaly.LEADER_EPOCH_BACK,
        Anomaly.COMMITTED_OFFSET_BACK,
        Anomaly.GROUP_SKIP,
        Anomaly.COPY_DUPLICATE,
        Anomaly.COPY_LOST,
        Anomaly.COPY_ORDER,
        Anomaly.DIVERGED,
    }
    assert {*BREAKS.values()} == {each for each in Anomaly if not each.is_legal} - others
