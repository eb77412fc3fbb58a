"""kill -9 of a process that commits: the next one finds the batch once, whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.kafka_jars import ROOT
from tests.unit.pipelines.lake.writing import (
    COLUMNS,
    FORMATS,
    QUERY,
    expected,
    ids_of,
    opened,
    write,
)

from ottla.base.fault_points import VARIABLE, PipelinePoint

pytestmark = pytest.mark.ci

POINTS = [PipelinePoint.DECIDED, PipelinePoint.HALF_PUBLISHED, PipelinePoint.COMMITTED]


@pytest.mark.parametrize("sweeps", [False, True])
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_batch_is_whole_after_a_crash(
    kind: str, point: PipelinePoint, sweeps: bool, tmp_path: Path
) -> None:
    if point is PipelinePoint.HALF_PUBLISHED and kind != "parquet":
        pytest.skip("a commit of this format publishes all files at once")
    table = opened(kind, str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    write(table, 0)
    died = subprocess.run(
        [sys.executable, "-m", "tests.unit.pipelines.lake.writing", kind, table.directory, "1"],
        cwd=ROOT,
        env={**os.environ, VARIABLE: point.value},
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    if sweeps:  # as a driver does before its first batch
        opened(kind, table.directory).sweep(QUERY)
    write(table, 1)  # the batch is repeated
    assert ids_of(table) == expected(2)
    write(table, 2)
    assert ids_of(table) == expected(3)
    on_disk = {
        str(path.relative_to(table.directory)) for path in Path(table.directory).glob("hour=*/*")
    }
    table.sweep(QUERY)
    left = {
        str(path.relative_to(table.directory)) for path in Path(table.directory).glob("hour=*/*")
    }
    assert left == set(table.files())
    assert left <= on_disk


@pytest.mark.parametrize("kind", FORMATS)
def test_of_two_drivers_with_the_same_batch_one_commits_it(kind: str, tmp_path: Path) -> None:
    table = opened(kind, str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    write(table, 0)
    for batch in (1, 2):
        both = [
            subprocess.Popen(
                [
                    sys.executable, "-m", "tests.unit.pipelines.lake.writing", kind,
                    table.directory, str(batch),
                ],
                cwd=ROOT,
            )
            for _ in range(2)
        ]  # fmt: skip
        assert [each.wait(120) for each in both] == [0, 0]
        assert ids_of(table) == expected(batch + 1)
