"""A table has one pipeline, and keeps what it was created with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.pipelines.lake.writing import (
    COLUMNS,
    FORMATS,
    expected,
    ids_of,
    opened,
    staged,
    write,
)

from ottla.pipelines.declaration.loading import declare
from ottla.pipelines.errors import BatchRefused, LakeError
from ottla.pipelines.lake.committing import commit
from ottla.pipelines.verbs.validate import check_table
from ottla.spark.records.schema import full_schema

BOTH = r"lake: the table belongs to the pipeline orders_lake, not to bills.*another directory"


@pytest.fixture(params=FORMATS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["empty", "written", "of an older release"])
def lake(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> str:
    found = str(tmp_path / "lake")
    table = opened(kind, found)
    table.prepare(COLUMNS)
    if request.param != "empty":
        write(table, 0)
    if request.param == "of an older release" and kind != "parquet":
        (Path(found) / "_ottla/table.json").unlink()
    return found


def test_another_pipeline_is_refused_before_anything_is_written(kind: str, lake: str) -> None:
    before = sorted(Path(lake).rglob("*"))
    second = opened(kind, lake, "bills")
    assert second.owner() == "orders_lake"
    for act in (second.check_claim, lambda: second.prepare(COLUMNS)):
        with pytest.raises(BatchRefused, match=BOTH):
            act()
    assert sorted(Path(lake).rglob("*")) == before


def test_a_commit_of_another_pipeline_is_refused(kind: str, lake: str) -> None:
    table = opened(kind, lake)
    rows = ids_of(table)
    second = opened(kind, lake, "bills")
    with pytest.raises(BatchRefused, match=BOTH):
        commit(second, replace(staged(second, 0), pipeline="bills"))
    assert ids_of(table) == rows


def test_validate_names_the_pipeline_of_the_table(kind: str, lake: str) -> None:
    declared = declare(
        clusters={"main": "localhost:9092"},
        pipelines={
            "bills": {"from": {"topics": ["bills"]}, "to": {"lake": lake, "format": kind}},
        },
    )
    with pytest.raises(BatchRefused, match=BOTH):
        check_table(declared.pipelines["bills"], full_schema(with_headers=True))


def test_the_pipeline_itself_continues(kind: str, lake: str) -> None:
    table = opened(kind, lake)
    table.prepare(COLUMNS)
    assert table.owner() == "orders_lake"
    if table.last() is None:
        write(table, 0)
    write(table, 1)
    assert ids_of(table) == expected(2)


@pytest.mark.parametrize("other", FORMATS)
def test_the_format_of_a_table_cannot_change(kind: str, other: str, tmp_path: Path) -> None:
    opened(kind, str(tmp_path / "lake")).prepare(COLUMNS)
    second = opened(other, str(tmp_path / "lake"))
    if other == kind:
        second.prepare(COLUMNS)
        return
    with pytest.raises(LakeError, match=f"is a table of the format {kind}, not {other}"):
        second.prepare(COLUMNS)


@pytest.mark.parametrize("change", [("at", "timestamp"), ("timestamp", "at")])
def test_the_column_of_the_hours_cannot_change(
    kind: str, change: tuple[str, str], tmp_path: Path
) -> None:
    before, after = change
    lake = str(tmp_path / "lake")
    opened(kind, lake, hourly=before).prepare(COLUMNS)
    second = opened(kind, lake, hourly=after)
    for act in (second.check_claim, lambda: second.prepare(COLUMNS)):
        with pytest.raises(LakeError, match=f"the column {before}, not of {after}.*`hourly:"):
            act()


def test_a_table_of_an_older_release_keeps_the_column_it_is_written_with(
    kind: str, tmp_path: Path
) -> None:
    lake = str(tmp_path / "lake")
    opened(kind, lake).prepare(COLUMNS)
    path = Path(lake) / "_ottla/table.json"
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({name: fields[name] for name in fields if name != "hourly"}))
    opened(kind, lake).prepare(COLUMNS)
    assert json.loads(path.read_text()) == fields
    with pytest.raises(LakeError, match="the column at, not of timestamp"):
        opened(kind, lake, hourly="timestamp").prepare(COLUMNS)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("inside", ["", "deeper/orders"])
def test_a_file_is_no_table(tmp_path: Path, kind: str, inside: str) -> None:
    file = tmp_path / "orders"
    file.write_text("rows")
    table = opened(kind, str(file / inside))
    with pytest.raises(LakeError, match=f"{file} is a file: a table is a directory"):
        table.check_claim()
