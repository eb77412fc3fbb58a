"""A batch that the table refuses is written nowhere: neither rows nor bad and late records."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.pipelines.lake.writing import COLUMNS, QUERY, SIZE, TOPIC_ID, opened, staged, write

from ottla.pipelines.declaration.loading import declare
from ottla.pipelines.errors import BatchRefused, FencedOut
from ottla.pipelines.lake.manifest import Counts
from ottla.pipelines.lake.table import LakeTable
from ottla.pipelines.running.batch import BatchRunner, TaskResults
from ottla.pipelines.running.checkpoint import BatchOffsets
from ottla.pipelines.running.tasks import TaskReport

NO_RECORDS = cast(Any, None)  # what reads them fails


class Runner(BatchRunner):
    """Tasks without Spark: their files are written here, and a side output is noted."""

    def __init__(self, table: LakeTable) -> None:
        declared = declare(
            clusters={"main": "localhost:9092"},
            pipelines={
                "orders_lake": {"from": {"topics": ["orders"]}, "to": {"lake": table.directory}}
            },
        )
        pipeline = declared.pipelines["orders_lake"]
        own = cast(Any, self)
        super().__init__(declared, pipeline, own, own, table, lambda _report: None)
        self.lake = table
        self.other_commits: list[str] = []
        self.tasks = 0
        self.side_commits = 0
        self.checks_left = 1000  # then another run has started

    def range_of(self, batch: int) -> BatchOffsets:
        starts, ends = ({TOPIC_ID: {"0": each * SIZE}} for each in (batch, batch + 1))
        return BatchOffsets(QUERY, batch, {"orders": TOPIC_ID}, starts, ends)

    def check(self) -> None:
        self.checks_left -= 1
        if self.checks_left < 0:
            raise FencedOut("another run has started")

    def _to_lake(self, _records: Any, wanted: BatchOffsets) -> TaskResults:
        self.tasks += 1
        files = staged(self.lake, wanted.batch).files
        for query in self.other_commits:
            write(self.lake, wanted.batch, query)
        return TaskResults([TaskReport(Counts(SIZE, SIZE), files)], Counts(SIZE, SIZE))

    def _commit_sink(self, _sink: Any, _reported: Any, _wanted: BatchOffsets) -> None:
        self.side_commits += 1


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    table = opened("parquet", str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    write(table, 0)
    return Runner(table)


def files_of(runner: Runner) -> list[Path]:
    return sorted(Path(runner.lake.directory).rglob("*.parquet"))


def test_a_batch_that_does_not_continue_the_table_runs_no_tasks(runner: Runner) -> None:
    before = files_of(runner)
    with pytest.raises(BatchRefused, match="200 to 399 would be missing"):
        runner(NO_RECORDS, 2)
    assert runner.side_commits == 0
    assert files_of(runner) == before


def test_a_table_that_was_removed_and_not_its_state_gets_no_later_batch(runner: Runner) -> None:
    shutil.rmtree(runner.lake.directory)
    runner.lake.prepare(COLUMNS)  # as the next run does
    with pytest.raises(BatchRefused, match="the table has no commit"):
        runner(NO_RECORDS, 1)
    assert (runner.tasks, runner.side_commits) == (0, 0)
    assert runner.lake.last() is None


def test_a_batch_that_another_query_overtakes_has_no_side_outputs(runner: Runner) -> None:
    runner.other_commits = ["another"]
    with pytest.raises(BatchRefused, match="are in the table already"):
        runner(NO_RECORDS, 1)
    assert runner.side_commits == 0
    known = {str(Path(runner.lake.directory) / path) for path in runner.lake.files()}
    assert {str(path) for path in files_of(runner)} == known


@pytest.mark.parametrize("checks", [0, 1, 2])
def test_a_run_that_another_has_replaced_commits_nothing_more(runner: Runner, checks: int) -> None:
    """It may be detected before its tasks, before the side outputs, or before the table."""
    before = (runner.lake.last(), files_of(runner))
    runner.checks_left = checks
    with pytest.raises(FencedOut):
        runner(NO_RECORDS, 1)
    assert (runner.tasks, runner.side_commits) == (min(checks, 1), max(0, checks - 1))
    assert (runner.lake.last(), files_of(runner)) == before


def test_a_batch_that_continues_is_committed_once(runner: Runner) -> None:
    runner(NO_RECORDS, 1)
    assert runner.side_commits == 2  # side outputs, and the main sink, which a lake has not
    runner(NO_RECORDS, 1)
    assert runner.side_commits == 2
    assert len(runner.lake.files()) == 4
