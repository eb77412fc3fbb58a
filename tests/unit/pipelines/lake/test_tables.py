"""Commits to tables of all formats: once, in order, whatever else happens."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.unit.pipelines.lake.writing import (
    COLUMNS,
    FORMATS,
    PIPELINE,
    QUERY,
    SIZE,
    TOPIC_ID,
    expected,
    ids_of,
    opened,
    staged,
    write,
)

from ottla.pipelines.errors import BatchRefused, LakeError, LakeUnavailable
from ottla.pipelines.lake.committing import commit, find_committed
from ottla.pipelines.lake.manifest import BACKFILL, Manifest, decode_manifest, encode_manifest
from ottla.pipelines.lake.table import LakeTable, chain, missing_files
from ottla.pipelines.sums.record_sums import decode_book, fold_arrow, merge_books


@pytest.fixture(params=FORMATS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> LakeTable:
    found = opened(request.param, str(tmp_path / "lake"))
    found.prepare(COLUMNS)
    return found


def test_batches_become_rows_in_folders_by_hour(table: LakeTable) -> None:
    assert table.last() is None
    first, second = write(table, 0), write(table, 1)
    assert ids_of(table) == expected(2)
    assert (second.number, second.previous) == (1, first.name)
    assert {Path(path).parent.name for path in table.files()} == {
        "hour=2026-03-01-10", "hour=2026-03-01-11",
    }  # fmt: skip
    assert table.last() == second
    assert [each.batch for each in chain(table)] == [1, 0]


def test_a_repeated_batch_is_committed_once(table: LakeTable) -> None:
    write(table, 0)
    again = staged(table, 0)
    done = commit(table, again)
    assert done.files != again.files
    assert ids_of(table) == expected(1)
    write(table, 1)
    assert ids_of(table) == expected(2)


def test_two_drivers_with_the_same_batch_commit_it_once(table: LakeTable) -> None:
    ready = [staged(table, 0) for _ in range(4)]
    results: list[str] = []

    def act(number: int) -> None:
        results.append(commit(_again(table), ready[number]).name)

    threads = [threading.Thread(target=act, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert len(results) == 4
    assert ids_of(table) == expected(1)


def test_empty_batches_of_several_drivers_are_committed_once(table: LakeTable) -> None:
    """They have no files, and move the ends nevertheless."""
    write(table, 0)
    for batch in range(1, 4):
        wanted = [replace(staged(table, batch), files=()) for _ in range(3)]
        names: list[str] = []

        def act(manifest: Manifest, names: list[str] = names) -> None:
            names.append(commit(_again(table), manifest).name)

        threads = [threading.Thread(target=act, args=[each]) for each in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(names) == 3
        assert len(set(names)) == 1
    last = table.last()
    assert last is not None
    assert last.number == 3
    assert last.ends == {TOPIC_ID: {"0": 4 * SIZE}}
    assert ids_of(table) == expected(1)


def _again(table: LakeTable) -> LakeTable:
    """As another process opens it."""
    kinds = {"ParquetTable": "parquet", "DeltaLakeTable": "delta", "IcebergTable": "iceberg"}
    return opened(kinds[type(table).__name__], table.directory)


def test_a_new_query_continues_where_the_table_ends_and_nowhere_else(table: LakeTable) -> None:
    write(table, 0)
    with pytest.raises(
        BatchRefused,
        match=r"topic orders, partition 0 begins at offset 400.*200 to 399 would be missing",
    ):
        commit(table, staged(table, 2))
    fresh = replace(staged(table, 0, "another"), batch=0)
    with pytest.raises(BatchRefused, match="offsets 0 to 199 are in the table already"):
        commit(table, fresh)
    assert ids_of(table) == expected(1)
    continued = replace(staged(table, 1, "another"), batch=0)
    commit(table, continued)
    assert ids_of(table) == expected(2)


def test_a_later_batch_is_refused_by_a_table_without_commits(table: LakeTable) -> None:
    """The table was removed and its state was not, or `lake` names another directory: what earlier
    batches wrote would be missing silently."""
    refused = r"lake: the table has no commit, and orders_lake has written .*delete the state"
    wanted = staged(table, 1)
    for act in (find_committed, commit):
        with pytest.raises(BatchRefused, match=refused):
            act(table, wanted)
    assert table.last() is None
    write(table, 0)
    commit(table, wanted)
    assert ids_of(table) == expected(2)


def test_an_older_checkpoint_and_another_pipeline_are_refused(table: LakeTable) -> None:
    write(table, 0)
    write(table, 1)
    with pytest.raises(BatchRefused, match="the checkpoint was restored from a copy"):
        commit(table, staged(table, 0))
    with pytest.raises(BatchRefused, match="belongs to the pipeline orders_lake, not to other"):
        commit(table, replace(staged(table, 2), pipeline="other"))


@pytest.mark.parametrize("has_backfill", [False, True])
def test_a_batch_that_was_planned_again_with_other_ends_is_refused(
    table: LakeTable, has_backfill: bool
) -> None:
    """A restored checkpoint: the batch has the name of one that is in the table."""
    write(table, 0)
    write(table, 1)
    if has_backfill:
        commit(table, replace(staged(table, 7, "backfill-1"), kind=BACKFILL, batch=0))
    more = replace(staged(table, 1), ends={TOPIC_ID: {"0": 2 * SIZE + 50}})
    refused = r"holds batch 1 .*orders-0 from 200 to 400, .*from 200 to 450.*Delete the state"
    for act in (find_committed, commit):
        with pytest.raises(BatchRefused, match=refused):
            act(table, more)
    another = replace(more, starts={TOPIC_ID: {"0": SIZE, "1": 0}})
    with pytest.raises(BatchRefused, match="Delete the state"):
        commit(table, another)
    found = find_committed(table, staged(table, 1))
    assert found is not None
    assert found.batch == 1


def test_a_backfill_between_two_batches_keeps_the_ends(table: LakeTable) -> None:
    write(table, 0)
    extra = replace(staged(table, 7, "backfill-1"), kind=BACKFILL, batch=0)
    commit(table, extra)
    last = write(table, 1)
    assert ids_of(table) == sorted([*expected(2), *range(7 * SIZE, 8 * SIZE)])
    assert last.ends == {TOPIC_ID: {"0": 2 * SIZE}}


def test_sums_of_the_manifests_are_those_of_the_rows(table: LakeTable) -> None:
    write(table, 0)
    write(table, 1)
    booked = merge_books(decode_book(file.sums) for each in chain(table) for file in each.files)
    rows = table.rows().combine_chunks()
    counted = merge_books(fold_arrow(batch) for batch in rows.to_batches())
    assert booked == counted
    assert sum(each.count for each in counted.values()) == 2 * SIZE


def test_files_of_failed_batches_are_swept_and_no_others(table: LakeTable) -> None:
    write(table, 0)
    staged(table, 1)
    other = staged(table, 1, "backfill-9")
    write(table, 1)
    assert table.sweep(QUERY) == 2
    assert ids_of(table) == expected(2)
    assert all(path.exists() for path in _paths(table, other))
    for path in {each for found in _paths(table, other) for each in (found, found.parent)}:
        os.utime(path, (0, 0))
    assert table.sweep(QUERY) == 2
    assert ids_of(table) == expected(2)
    with pytest.raises(LakeUnavailable, match="was removed before its commit"):
        commit(table, replace(other, kind=BACKFILL))
    assert ids_of(table) == expected(2)


def test_a_second_driver_keeps_the_files_that_the_first_is_about_to_commit(
    table: LakeTable,
) -> None:
    """The first has passed its last check of the fence, and pauses."""
    write(table, 0)
    first = staged(table, 1)
    second = _again(table)
    second.prepare(COLUMNS)
    assert second.sweep(QUERY) == 0
    commit(table, first)
    assert ids_of(second) == expected(2)
    again = staged(second, 1)
    assert commit(second, again).files == first.files
    assert second.sweep(QUERY) == 2
    assert not any(path.exists() for path in _paths(table, again))
    assert ids_of(second) == expected(2)


def test_a_table_inside_the_directory_of_another_is_not_swept(table: LakeTable) -> None:
    inner = opened("delta", f"{table.directory}/inner")
    inner.prepare(COLUMNS)
    write(inner, 0, "another")
    for path in Path(inner.directory).rglob("*.parquet"):
        os.utime(path, (0, 0))
    assert table.sweep(QUERY) == 0
    assert ids_of(inner) == expected(1)


def _paths(table: LakeTable, manifest: Manifest) -> list[Path]:
    return [Path(table.directory) / (file.staged or file.path) for file in manifest.files]


def test_without_a_file_that_was_removed_the_other_rows_are_read(table: LakeTable) -> None:
    write(table, 0)
    before = table.files()
    (Path(table.directory) / before[0]).unlink()
    left = pq.read_table(Path(table.directory) / before[1], partitioning=None)
    assert ids_of(table) == sorted(left.column("id").to_pylist())
    assert table.rows(["id", "offset"]).column_names == ["id", "offset"]
    assert missing_files(table) == before[:1]
    assert table.files() == before, "nothing is committed by that"


def test_other_programs_read_the_table(table: LakeTable) -> None:
    write(table, 0)
    rows = table.rows()  # as pyarrow, deltalake or pyiceberg read it
    found = duckdb.from_arrow(rows).aggregate("count(*), sum(id)").fetchall()[0]
    assert found == (SIZE, sum(expected(1)))
    frame = rows.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["id"].sum() == sum(expected(1))
    if table.is_staged:
        lake = table.directory
        path = f"{lake}/*/*.parquet"
        counted = duckdb.sql(f"SELECT hour, count(*) FROM read_parquet('{path}') GROUP BY hour")
        assert dict(counted.fetchall()) == {"2026-03-01-10": 90, "2026-03-01-11": 110}
        assert len(pandas.read_parquet(lake)) == SIZE


def test_columns_are_added_only_if_that_is_declared(table: LakeTable) -> None:
    write(table, 0)
    more = pa.schema([*COLUMNS, pa.field("note", pa.string())])
    with pytest.raises(
        LakeError, match=r"the table has no columns note string\. Set `evolve: add`"
    ):
        _again(table).prepare(more)
    changed = COLUMNS.set(0, pa.field("id", pa.string()))
    with pytest.raises(LakeError, match="id is int64 in the table and string in the declaration"):
        _again(table).prepare(changed)
    kind = {True: "parquet"}.get(table.is_staged) or (
        "delta" if "Delta" in type(table).__name__ else "iceberg"
    )
    evolving = opened(kind, table.directory, evolve="add")
    evolving.prepare(more)
    evolving.prepare(more)
    columns = evolving.columns()
    assert columns is not None
    assert "note" in columns.names
    write(evolving, 1)
    assert ids_of(evolving) == expected(2)
    assert pc.all(pc.is_null(evolving.rows().column("note"))).as_py()


@pytest.mark.parametrize("kind", FORMATS)
def test_a_directory_with_something_else_is_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "photo.jpeg").write_text("")
    with pytest.raises(LakeError, match=r"holds something else \(photo.jpeg\)"):
        opened(kind, str(tmp_path)).prepare(COLUMNS)


def test_a_manifest_survives_its_json_and_damage_is_named(table: LakeTable) -> None:
    manifest = write(table, 0)
    assert decode_manifest(encode_manifest(manifest), "here") == manifest
    assert manifest.pipeline == PIPELINE
    with pytest.raises(LakeError, match="here: not a manifest"):
        decode_manifest(b'{"version": 1}', "here")
    with pytest.raises(LakeError, match="newer release"):
        decode_manifest(b'{"version": 99}', "here")


def test_excluded_records_keep_their_stored_key(table: LakeTable) -> None:
    manifest = replace(write(table, 0), excluded=[{"count": 1}])
    stored = json.loads(encode_manifest(manifest))
    assert stored["left_out"] == [{"count": 1}]
    assert "excluded" not in stored
    del stored["left_out"]  # as in older manifests
    assert decode_manifest(json.dumps(stored), "here") == replace(manifest, excluded=[])
