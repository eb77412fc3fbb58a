"""The table that a pipeline declares."""

from __future__ import annotations

from ottla.pipelines.declaration.tree import DELTA, ICEBERG, Lake
from ottla.pipelines.lake.table import LakeTable

RECORD_TIME = "timestamp"  # divides the table where no event time is declared


def open_table(lake: Lake, pipeline: str) -> LakeTable:
    """Libraries are imported here, because a pipeline needs at most one of them."""
    if lake.format == DELTA:
        from ottla.pipelines.lake.delta_table import DeltaLakeTable

        return DeltaLakeTable(lake.lake, pipeline, lake.evolve)
    if lake.format == ICEBERG:
        from ottla.pipelines.lake.iceberg_table import IcebergTable

        event_time = lake.hourly or RECORD_TIME
        return IcebergTable(lake.lake, pipeline, lake.evolve, event_time, lake.catalog, lake.table)
    from ottla.pipelines.lake.parquet_table import ParquetTable

    return ParquetTable(lake.lake, pipeline, lake.evolve)
