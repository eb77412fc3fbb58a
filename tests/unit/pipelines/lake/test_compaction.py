"""Small files of closed hours become large ones, and the rows stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.unit.pipelines.lake.writing import (
    COLUMNS,
    FORMATS,
    PIPELINE,
    SIZE,
    expected,
    ids_of,
    opened,
    staged,
    write,
)

from ottla.pipelines.declaration.tree import Lake, Pipeline, Source
from ottla.pipelines.errors import LakeError
from ottla.pipelines.lake.committing import commit
from ottla.pipelines.lake.table import LakeTable, current_files
from ottla.pipelines.sums.record_sums import decode_book, fold_arrow, merge_books
from ottla.pipelines.verbs.compact import compact
from ottla.pipelines.verbs.progress import Progress

NEWEST_MS = 1_772_370_000_000  # 2026-03-01T13:00:00Z: the hour 10 is closed, 11 is not


def pipeline(table: LakeTable, kind: str) -> Pipeline:
    lake = Lake(table.directory, format=kind, hourly="at")
    return Pipeline(Source(("orders",)), lake, name=PIPELINE)


def filled(kind: str, tmp_path: Path) -> LakeTable:
    table = opened(kind, str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    for batch in range(3):
        commit(table, replace(staged(table, batch), newest_ms=NEWEST_MS))
    return table


@pytest.mark.parametrize("kind", FORMATS)
def test_closed_hours_have_one_file_afterwards_and_the_same_rows(kind: str, tmp_path: Path) -> None:
    table = filled(kind, tmp_path)
    progress = Progress()
    done = compact(pipeline(table, kind), progress)
    assert progress.text().startswith("orders_lake: compacting hours: 1 of 1, ")
    assert (done.hours, done.files_before, done.files_after) == (1, 3, 1)
    assert ids_of(table) == expected(3)
    hours = [Path(path).parent.name for path in table.files()]
    assert sorted(hours) == ["hour=2026-03-01-10", *["hour=2026-03-01-11"] * 3]
    assert compact(pipeline(table, kind)).hours == 0
    write(table, 3)
    assert ids_of(table) == expected(4)


@pytest.mark.parametrize("kind", FORMATS)
def test_sums_of_the_table_stay(kind: str, tmp_path: Path) -> None:
    table = filled(kind, tmp_path)
    compact(pipeline(table, kind))
    last = table.last()
    assert last is not None
    commits = [last]
    while commits[0].previous:
        commits.insert(0, table.read_manifest(commits[0].previous))
    booked = merge_books(decode_book(each.sums) for each in current_files(commits).values())
    rows = table.rows().combine_chunks().to_batches()
    counted = merge_books(map(fold_arrow, rows))
    assert {key: each.place for key, each in booked.items()} == {
        key: each.place for key, each in counted.items()
    }


def test_files_with_other_rows_than_were_written_are_left_alone(tmp_path: Path) -> None:
    table = filled("parquet", tmp_path)
    path = next(Path(table.directory) / each for each in table.files() if "-10/" in each)
    rows = pq.read_table(path, partitioning=None)
    pq.write_table(rows.slice(1), path)
    with pytest.raises(LakeError, match="do not have the rows that were written"):
        compact(pipeline(table, "parquet"))
    assert len(ids_of(table)) == 3 * SIZE - 1
    assert list((Path(table.directory) / "_ottla" / "staging").rglob("*.parquet")) == []


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_that_is_missing_is_named_and_nothing_new_is_left(kind: str, tmp_path: Path) -> None:
    table = opened(kind, str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    for batch in range(3):  # both hours are closed
        commit(table, replace(staged(table, batch), newest_ms=NEWEST_MS + 3_600_000))
    lost = Path(table.directory) / next(each for each in table.files() if "-11/" in each)
    lost.unlink()
    before = sorted(Path(table.directory).rglob("*.parquet"))
    with pytest.raises(LakeError, match=f"{lost.name} is missing.*ottla pipeline backfill"):
        compact(pipeline(table, kind))
    assert sorted(Path(table.directory).rglob("*.parquet")) == before


def test_a_table_that_another_program_has_optimized_is_left_alone(tmp_path: Path) -> None:
    table = filled("delta", tmp_path)
    DeltaTable(table.directory).optimize.compact()
    with pytest.raises(LakeError, match="another program"):
        compact(pipeline(table, "delta"))
    assert ids_of(table) == expected(3)
