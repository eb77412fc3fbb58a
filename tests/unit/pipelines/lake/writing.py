"""Batches of rows for tests of tables: written and committed as tasks and a driver do it.

    python -m tests.unit.pipelines.lake.writing FORMAT DIRECTORY BATCH

commits one batch, and dies at the point that the environment names.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pyarrow as pa

from ottla.pipelines.declaration.tree import Lake
from ottla.pipelines.lake.columns import SOURCE_COLUMNS
from ottla.pipelines.lake.committing import commit
from ottla.pipelines.lake.file_writing import FilePlan, HourWriter
from ottla.pipelines.lake.manifest import Counts, Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable
from ottla.pipelines.sums.record_sums import fold_arrow

PIPELINE, QUERY = "orders_lake", "5f0c1a2b"
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
COLUMNS = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC")), *SOURCE_COLUMNS])
START = datetime(2026, 3, 1, 10, 30, tzinfo=UTC)
FORMATS = ("parquet", "delta", "iceberg")
SIZE = 200  # rows of a batch, over two hours


def opened(kind: str, directory: str, pipeline: str = PIPELINE, **more: str) -> LakeTable:
    lake = Lake(directory, format=kind, **{"hourly": "at", **more})  # type: ignore[arg-type]
    return open_table(lake, pipeline)


def rows_of(batch: int, *, partition: int = 0) -> pa.RecordBatch:
    first = batch * SIZE
    start_us = int(START.timestamp() * 1_000_000)
    offsets = list(range(first, first + SIZE))
    times = pa.array([start_us + each * 20_000_000 for each in range(SIZE)], pa.int64())
    times = times.cast(pa.timestamp("us", "UTC"))
    return pa.record_batch(
        [
            pa.array(offsets, pa.int64()), times, pa.repeat("orders", SIZE),
            pa.repeat(TOPIC_ID, SIZE), pa.repeat(pa.scalar(partition, pa.int32()), SIZE),
            pa.array(offsets, pa.int64()), times,
        ],
        schema=COLUMNS,
    )  # fmt: skip


def staged(table: LakeTable, batch: int, query: str = QUERY) -> Manifest:
    """The files of a batch, written and not committed."""
    plan = FilePlan(table.directory, query, batch, table.is_staged, 2**30)
    writer = HourWriter(plan, COLUMNS, fold_arrow)
    rows = rows_of(batch)
    writer.add(rows, rows.column("at"))
    return Manifest(
        PIPELINE,
        query,
        batch,
        topics={"orders": TOPIC_ID},
        starts={TOPIC_ID: {"0": batch * SIZE}},
        ends={TOPIC_ID: {"0": (batch + 1) * SIZE}},
        counts=Counts(SIZE, SIZE),
        newest_ms=0,
        files=tuple(writer.close()),
    )


def write(table: LakeTable, batch: int, query: str = QUERY) -> Manifest:
    return commit(table, staged(table, batch, query))


def ids_of(table: LakeTable) -> list[int]:
    found: list[int] = sorted(table.rows().column("id").to_pylist())
    return found


def expected(batches: int) -> list[int]:
    return list(range(batches * SIZE))


def main() -> None:
    kind, directory, batch = sys.argv[1:]
    table = opened(kind, directory)
    table.prepare(COLUMNS)
    write(table, int(batch))


if __name__ == "__main__":
    main()
