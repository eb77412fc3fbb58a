"""What the tasks of a lake need to know, from the declaration, the table and the batch."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import StructType

from ottla.pipelines.declaration.tree import Lake, Pipeline
from ottla.pipelines.declaration.value_schema import value_struct
from ottla.pipelines.lake.columns import lake_columns, transformed_columns
from ottla.pipelines.lake.file_writing import FilePlan
from ottla.pipelines.lake.ownership import RECORD_TIME
from ottla.pipelines.lake.table import LakeTable
from ottla.pipelines.running.checkpoint import BatchOffsets
from ottla.pipelines.running.tasks import LakePlan, SinkPlan
from ottla.pipelines.running.transforms import has_transform
from ottla.spark.records.value_types import arrow_schema

MIB = 1024 * 1024


def columns_of(pipeline: Pipeline, rows: StructType) -> pa.Schema:
    """The columns of the table; `rows` is the schema of the query's rows, if there is one."""
    assert isinstance(pipeline.to, Lake)
    if has_transform(pipeline):
        return transformed_columns(rows)
    value = pipeline.source.value
    return lake_columns(None if value is None else value_struct(value), pipeline.to.keep)


def lake_plan(
    pipeline: Pipeline,
    table: LakeTable,
    wanted: BatchOffsets,
    newest_ms: int | None,
    side: SinkPlan | None,
    rows: StructType,
) -> LakePlan:
    lake, value = pipeline.to, pipeline.source.value
    assert isinstance(lake, Lake)
    is_decoded = value is None or has_transform(pipeline)
    struct = None if is_decoded or value is None else value_struct(value)
    late_before_us = None
    if pipeline.late is not None and newest_ms is not None:
        late_before_us = (newest_ms - pipeline.late.after_ms) * 1000
    return LakePlan(
        pipeline.name,
        FilePlan(table.directory, wanted.query, wanted.batch, table.is_staged, lake.file_mb * MIB),
        columns_of(pipeline, rows),
        lake.hourly or RECORD_TIME,
        wanted.topics,
        lake.keep,
        None if struct is None or value is None else value.format,
        None if struct is None or value is None else value.schema,
        None if struct is None else pa.struct(list(arrow_schema(struct))),
        has_transform(pipeline),
        late_before_us,
        side,
        None if pipeline.bad is None else pipeline.bad.topic,
        None if pipeline.late is None else pipeline.late.topic,
    )
