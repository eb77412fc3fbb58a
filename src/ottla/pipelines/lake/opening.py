"""The table that a pipeline declares."""

from __future__ import annotations

from ottla.pipelines.declaration.tree import DELTA, ICEBERG, Lake
from ottla.pipelines.lake.ownership import RECORD_TIME
from ottla.pipelines.lake.table import LakeTable


def open_table(lake: Lake, pipeline: str) -> LakeTable:
    """Libraries are imported here, because a pipeline needs at most one of them."""
    event_time = lake.hourly or RECORD_TIME
    if lake.format == DELTA:
        from ottla.pipelines.lake.delta_table import DeltaLakeTable

        return DeltaLakeTable(lake.lake, pipeline, lake.evolve, event_time)
    if lake.format == ICEBERG:
        from ottla.pipelines.lake.iceberg_table import IcebergTable

        return IcebergTable(lake.lake, pipeline, lake.evolve, event_time, lake.catalog, lake.table)
    from ottla.pipelines.lake.parquet_table import ParquetTable

    return ParquetTable(lake.lake, pipeline, lake.evolve, event_time)
