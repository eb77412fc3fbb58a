"""Limits of batches and restarts of pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipelines.errors import BatchRefused, LakeUnavailable
from ottla.pipelines.running.limits import decide_limit
from ottla.pipelines.running.restarts import decide_restart
from ottla.pipelines.running.service import explained
from ottla.spark.data_loss import LossPolicy
from ottla.spark.errors import DataLoss

EVERY_MS = 10_000


def test_a_full_batch_that_was_quick_raises_the_limit_step_by_step() -> None:
    assert decide_limit(10_000, 10_000, 500, EVERY_MS) == 40_000
    assert decide_limit(10_000, 10_000, 4_000, EVERY_MS) == 20_000


def test_a_batch_that_was_not_full_changes_nothing() -> None:
    assert decide_limit(10_000, 200, 500, EVERY_MS) == 10_000
    assert decide_limit(10_000, 200, 90_000, EVERY_MS) == 10_000


def test_a_pipeline_with_slow_batches_keeps_up_with_its_topic() -> None:
    """Batches that take three seconds whatever they hold, and may take two."""
    limit, lag, arriving = 1_000_000, 0, 10_000
    for _ in range(50):
        records = min(limit, lag + 3 * arriving)
        lag += 3 * arriving - records
        limit = decide_limit(limit, records, 3_000, 2_000)
    assert lag == 0


def test_a_slow_batch_lowers_the_limit_but_not_to_nothing() -> None:
    assert decide_limit(100_000, 100_000, 32_000, EVERY_MS) == 25_000
    assert decide_limit(2_000, 2_000, 900_000, EVERY_MS) == 1_000


def test_a_limit_that_is_about_right_stays() -> None:
    for took_ms in (6_000, 8_000, 10_000):
        assert decide_limit(10_000, 10_000, took_ms, EVERY_MS) == 10_000


def test_the_limit_settles_where_batches_take_the_time_they_may() -> None:
    limit = 1_000
    for _ in range(30):
        took_ms = limit // 20  # 20,000 records a second
        limit = decide_limit(limit, limit, took_ms, EVERY_MS)
    assert 100_000 <= limit <= 200_000


def test_failures_are_tried_again_with_growing_pauses_until_there_were_too_many() -> None:
    failures, pauses = 0, []
    while True:
        decided = decide_restart(OSError("gone"), failures, 4, had_progress=False)
        failures = decided.failures
        if decided.pause_ms is None:
            break
        pauses.append(decided.pause_ms)
    assert pauses == [1_000, 2_000, 4_000, 8_000]


def test_a_batch_in_between_begins_the_count_again() -> None:
    assert decide_restart(OSError("gone"), 4, 4, had_progress=True).pause_ms == 1_000


@pytest.mark.parametrize("had_progress", [False, True])
def test_what_a_restart_cannot_repair_ends_the_pipeline(had_progress: bool) -> None:
    decided = decide_restart(BatchRefused("no"), 0, 4, had_progress=had_progress)
    assert decided.pause_ms is None


def test_no_pause_is_longer_than_a_minute() -> None:
    assert decide_restart(OSError(), 30, 100, had_progress=False).pause_ms == 60_000


def test_failures_of_tasks_are_distinguished_in_the_text_of_spark() -> None:
    text = "Job aborted\n  ottla.pipelines.errors.{}: ./lake cannot be written: full\n\tat java"
    passing = explained(Exception(text.format("LakeUnavailable")))
    final = explained(Exception(text.format("TooManyBad")))
    assert str(passing) == str(final) == "./lake cannot be written: full"
    assert decide_restart(passing, 0, 4, had_progress=False).pause_ms == 1_000
    assert decide_restart(final, 0, 4, had_progress=False).pause_ms is None


def test_a_loss_is_reported_without_options_that_a_pipeline_does_not_have() -> None:
    with pytest.raises(DataLoss) as lost:
        LossPolicy(is_strict=True, is_stream=True).report("t-0: deleted.")
    found = explained(Exception(f"STREAM_FAILED\nottla.spark.errors.DataLoss: {lost.value}\n at"))
    assert str(found).startswith("t-0: deleted. To begin again, delete the state of the pipeline")
    assert "failOnDataLoss" not in str(found)
    assert "checkpointLocation" not in str(found)


def test_failures_of_the_operating_system_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        (tmp_path / "none").read_text()
    assert str(explained(caught.value)) == f"{tmp_path / 'none'}: No such file or directory"


def test_a_full_disk_is_tried_again() -> None:
    assert decide_restart(LakeUnavailable("full"), 0, 4, had_progress=False).pause_ms == 1_000
    assert decide_restart(LakeUnavailable("full"), 4, 4, had_progress=False).pause_ms is None
