"""A table of a topic's records, written and committed as a pipeline does, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_to_text
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.settings import READ_COMMITTED
from ottla.pipelines.audit.lake_tables import IcebergReader
from ottla.pipelines.declaration.tree import Lake
from ottla.pipelines.lake.columns import KEPT as KINDS
from ottla.pipelines.lake.columns import SOURCE_COLUMNS
from ottla.pipelines.lake.committing import commit
from ottla.pipelines.lake.file_writing import FilePlan, HourWriter
from ottla.pipelines.lake.manifest import Counts, Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable
from ottla.pipelines.sums.record_sums import Book, fold_arrow
from ottla.pipelines.sums.row_hashes import row_hashes
from ottla.protocol.records.arrow import read_arrow

FORMATS = ("parquet", "delta", "iceberg")
PIPELINE, QUERY = "orders_lake", "5f0c1a2b"
COLUMNS = pa.schema([("value", pa.binary()), *SOURCE_COLUMNS])
RAW = ("key", "value", "headers")
KEPT = pa.schema([*COLUMNS, *(pa.field(f"record_{name}", kind) for name, kind in KINDS.items())])


def create_lake(directory: Path, kind: str, columns: pa.Schema = COLUMNS) -> LakeTable:
    table = open_table(Lake(str(directory), format=kind, hourly="timestamp"), PIPELINE)
    table.prepare(columns)
    return table


def ingest(
    cluster: Cluster,
    table: LakeTable,
    topic: str,
    ranges: dict[int, tuple[int, int]],
    batch: int,
    only: set[int] | None = None,
    columns: pa.Schema = COLUMNS,
) -> Manifest:
    """Commit the records of these offsets of each partition as one batch. With `only`, the others
    are lost."""
    topic_id = uuid_to_text(cluster.describe_topics([topic])[topic].topic_id)
    writer = HourWriter(
        FilePlan(table.directory, QUERY, batch, table.is_staged, 2**30),
        columns,
        partial(fold_rows, columns),
    )
    count = 0
    for partition, (start, end) in ranges.items():
        for rows in rows_of(cluster, topic, topic_id, partition, start, end):
            kept = [n for n, at in enumerate(rows.column("offset").to_pylist())
                    if only is None or at in only]  # fmt: skip
            chosen = rows.take(pa.array(kept, pa.int64()))
            count += chosen.num_rows
            if chosen.num_rows:
                writer.add(chosen, chosen.column("timestamp"))
    manifest = Manifest(
        PIPELINE,
        QUERY,
        batch,
        topics={topic: topic_id},
        starts={topic_id: {str(at): start for at, (start, _) in ranges.items()}},
        ends={topic_id: {str(at): end for at, (_, end) in ranges.items()}},
        counts=Counts(count, count),
        files=tuple(writer.close()),
    )
    return commit(table, manifest)


def rows_of(
    cluster: Cluster, topic: str, topic_id: str, partition: int, start: int, end: int
) -> list[pa.RecordBatch]:
    found = []
    at = TopicPartition(topic, partition)
    for fetched in fetch_range(cluster, at, start, end, isolation_level=READ_COMMITTED):
        for batch in read_arrow(
            fetched.data,
            from_offset=max(start, fetched.start_offset),
            end_offset=min(end, fetched.end_offset),
            with_headers=True,
            is_wanted=fetched.is_wanted,
        ):
            count = batch.num_rows
            arrays = [
                batch.column("value"),
                pa.repeat(topic, count),
                pa.repeat(topic_id, count),
                pa.repeat(pa.scalar(partition, pa.int32()), count),
                batch.column("offset"),
                batch.column("timestamp").cast(pa.timestamp("us", "UTC")),
                *(batch.column(name) for name in RAW),
                *(batch.column(name) for name in RAW),
            ]
            names = [*KEPT.names, *(f"raw:{name}" for name in RAW)]
            found.append(pa.RecordBatch.from_arrays(arrays, names))
    return found


def fold_rows(written: pa.Schema, rows: pa.RecordBatch) -> Book:
    places = ("topic_id", "partition", "offset", "timestamp")
    columns = {name: rows.column(name) for name in places}
    columns |= {name: rows.column(f"raw:{name}") for name in RAW}
    return fold_arrow(pa.record_batch(columns), row_hashes=row_hashes(rows.select(written.names)))


def rewrite_iceberg_file(lake: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """The first file of the table, replaced by one with other rows, as another program does it:
    pyiceberg itself rewrites files of divided tables only with another package."""
    table = IcebergReader(lake)._table()
    file = min((task.file for task in table.scan().plan_files()), key=lambda each: each.file_path)
    old = Path(file.file_path.removeprefix("file://"))
    new = old.with_name("rewritten.parquet")
    pq.write_table(change(pq.read_table(old, partitioning=None)), new)
    with table.transaction() as transaction:
        with transaction.update_snapshot().overwrite() as overwriting:
            overwriting.delete_data_file(file)
        transaction.add_files([f"file://{new}"])
