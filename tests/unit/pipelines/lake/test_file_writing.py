"""Rows of many hours at once: files, row groups and memory."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.pipelines.lake.writing import COLUMNS, FORMATS, START, TOPIC_ID, opened, write

from ottla.pipelines.lake import file_writing
from ottla.pipelines.lake.file_writing import FilePlan, HourWriter
from ottla.pipelines.sums.record_sums import fold_arrow

HOURS = 40
SIZE = 1000  # rows of a batch, over all hours
BATCHES = 60
MIB = 1024 * 1024


def rows_of(number: int) -> pa.RecordBatch:
    start_us = int(START.timestamp()) * 1_000_000
    offsets = [number * SIZE + each for each in range(SIZE)]
    times = pa.array([start_us + each % HOURS * 3_600_000_000 for each in range(SIZE)], pa.int64())
    times = times.cast(pa.timestamp("us", "UTC"))
    return pa.record_batch(
        [
            pa.array(offsets, pa.int64()), times, pa.repeat("o" * 200, SIZE),
            pa.repeat(TOPIC_ID, SIZE), pa.repeat(pa.scalar(0, pa.int32()), SIZE),
            pa.array(offsets, pa.int64()), times,
        ],
        schema=COLUMNS,
    )  # fmt: skip


@pytest.mark.parametrize("kind", FORMATS)
def test_new_directories_are_synced_with_the_files_in_them(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power failure must not take the directory of an hour away, whose files are committed."""
    synced: set[str] = set()
    fsync = os.fsync

    def noted(number: int) -> None:
        fsync(number)
        synced.add(os.readlink(f"/proc/self/fd/{number}"))

    monkeypatch.setattr(os, "fsync", noted)
    table = opened(kind, str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    synced.clear()
    write(table, 0)
    lake = Path(table.directory)
    hours = {str((lake / path).parent) for path in table.files()}
    assert len(hours) == 2
    assert {table.directory, *hours} <= synced


def test_the_memory_of_a_task_does_not_grow_with_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of more hours than there may be open files, each with too few for a row group."""
    monkeypatch.setattr(file_writing, "BUFFERED_BYTES", MIB)
    monkeypatch.setattr(file_writing, "ROW_GROUP_BYTES", MIB // 2)
    writer = HourWriter(FilePlan(str(tmp_path), "q", 0, True, 2**30), COLUMNS, fold_arrow)
    before, most = pa.total_allocated_bytes(), 0
    written = 0
    for number in range(BATCHES):
        rows = rows_of(number)
        written += rows.nbytes
        writer.add(rows, rows.column("at"))
        most = max(most, pa.total_allocated_bytes() - before)
    files = writer.close()
    assert written > 12 * MIB
    assert most < 6 * MIB, most
    assert sum(file.rows for file in files) == BATCHES * SIZE
    assert len({file.hour for file in files}) == HOURS
    paths = [tmp_path / (file.staged or "") for file in files]
    found = [each for path in paths for each in pq.read_table(path)["offset"].to_pylist()]
    assert sorted(found) == list(range(BATCHES * SIZE))
