"""A commit that cannot be written leaves the table as it was, and may be repeated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.kafka_jars import ROOT
from tests.unit.pipelines.lake.writing import COLUMNS, FORMATS, expected, ids_of, opened, write

from ottla.pipelines.errors import LakeUnavailable


@pytest.mark.parametrize(
    ("kind", "when"),
    # The manifest is the commit of a table of Parquet files.
    [*((kind, "") for kind in FORMATS), ("delta", "manifest"), ("iceberg", "manifest")],
)
def test_a_commit_on_a_full_disk_changes_nothing(kind: str, when: str, tmp_path: Path) -> None:
    table = opened(kind, str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    first = write(table, 0)
    done = subprocess.run(
        [
            sys.executable, "-m", "tests.unit.pipelines.lake.full_disk", kind, table.directory,
            "1", *when.split(),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )  # fmt: skip
    name, _, message = done.stdout.strip().partition(" ")
    assert name == LakeUnavailable.__name__, done.stdout
    assert table.directory in message
    assert "nothing was committed" in message
    assert table.last() == first
    assert ids_of(table) == expected(1)
    write(table, 1)
    write(table, 2)
    assert ids_of(table) == expected(3)
