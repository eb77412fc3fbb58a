"""What is written to a table about its completeness, and withdrawn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from tests.unit.pipelines.audit.test_verifying import TWO_BUCKETS, books

from ottla.pipelines.audit.lake_tables import (
    COMPLETE_FROM,
    COMPLETE_UNTIL,
    METADATA_DIRECTORY,
    DeltaReader,
    IcebergReader,
    ParquetReader,
)
from ottla.pipelines.audit.passes import note_complete_until

FILE = "complete_until.json"


def test_what_is_no_longer_true_is_withdrawn(tmp_path: Path) -> None:
    table = ParquetReader(tmp_path)
    (book,) = books(TWO_BUCKETS)
    note_complete_until(table, [book])
    reported = json.loads((tmp_path / METADATA_DIRECTORY / FILE).read_text())
    assert reported == {COMPLETE_UNTIL: book.complete_until_ms}
    lost = [replace(book, failure="damaged")]
    note_complete_until(table, lost)
    assert not (tmp_path / METADATA_DIRECTORY / FILE).exists()
    note_complete_until(table, lost)


def test_a_delta_table(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path), pa.table({"n": [1]}))
    table = DeltaReader(tmp_path)

    def reported() -> dict[str, str]:
        return dict(deltalake.DeltaTable(str(tmp_path)).metadata().configuration)

    table.note_complete_until(2000, 1000)
    assert reported() == {COMPLETE_UNTIL: "2000", COMPLETE_FROM: "1000"}
    table.note_complete_until(None)
    assert reported() == {COMPLETE_UNTIL: "", COMPLETE_FROM: ""}
    version = deltalake.DeltaTable(str(tmp_path)).version()
    table.note_complete_until(None)
    assert deltalake.DeltaTable(str(tmp_path)).version() == version, "nothing has changed"


def test_an_iceberg_table(tmp_path: Path) -> None:
    catalogs = pytest.importorskip("pyiceberg.catalog")
    (tmp_path / METADATA_DIRECTORY).mkdir()
    uri = f"sqlite:///{tmp_path / METADATA_DIRECTORY / 'catalog.db'}"
    catalog = catalogs.load_catalog("ottla", type="sql", uri=uri, warehouse=f"file://{tmp_path}")
    catalog.create_namespace("lake")
    catalog.create_table("lake.t", pa.schema([("n", pa.int64())]))
    table = IcebergReader(tmp_path)

    def reported() -> set[str]:
        return set(catalog.load_table("lake.t").properties) & {COMPLETE_UNTIL, COMPLETE_FROM}

    table.note_complete_until(2000, 1000)
    assert reported() == {COMPLETE_UNTIL, COMPLETE_FROM}
    table.note_complete_until(3000)
    assert reported() == {COMPLETE_UNTIL}
    table.note_complete_until(None)
    assert reported() == set()
