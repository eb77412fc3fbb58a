"""A writing process is killed at every named point, one after the other, and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.integration.spark.sink.committed_records import committed_values
from tests.integration.spark.sink.crashes import ROOT
from tests.integration.spark.sink.small_job import TASKS, values_of

from ottla.base.fault_points import VARIABLE, SinkPoint

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("apache-kafka")]

JOB = "tests.integration.spark.sink.small_job"


def run(words: list[str], environment: Mapping[str, str]) -> int:
    done = subprocess.run(
        [sys.executable, "-m", JOB, *words], cwd=ROOT, env={**os.environ, **environment}
    )
    return done.returncode


def test_rows_are_written_once_through_deaths_at_every_point(
    servers: str, new_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic = new_topic(3)
    points = list(SinkPoint)
    for number, point in enumerate(points, 1):
        words = [servers, topic, str(tmp_path / "checkpoint"), str(number)]
        assert run(words, {VARIABLE: point.value}) == -signal.SIGKILL, point
    batches = len(points) + 1
    assert run([servers, topic, str(tmp_path / "checkpoint"), str(batches)], {}) == 0
    tasks = [(batch, task) for batch in range(batches) for task in range(TASKS)]
    expected = [value for place in tasks for value in values_of(*place)]
    assert committed_values(servers, topic) == sorted(expected)
