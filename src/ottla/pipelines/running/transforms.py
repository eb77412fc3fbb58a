"""Functions of DataFrames: records to the rows of a lake or a feed.

Owns      the view `input`, the views of compacted topics, and calling sql or Python.

    input: key · value · topic · partition · offset · timestamp · timestampType · <fields of value>
"""

from __future__ import annotations

import importlib
import uuid
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as everyone writes it
from pyspark.sql.types import StructType, TimestampType

from ottla.pipelines.declaration.tree import Declaration, Pipeline, Table
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.running.cluster_options import kafka_options
from ottla.spark.records.values import BAD_REASON, BAD_VALUE

INPUT = "input"


def has_transform(pipeline: Pipeline) -> bool:
    return pipeline.sql is not None or pipeline.python is not None


def decoded_only(records: DataFrame) -> DataFrame:
    """Without the records that could not be decoded, and with the fields of values as columns."""
    value = records.schema["value"].dataType
    if not isinstance(value, StructType):
        return records
    return with_fields(records.where(F.col(BAD_REASON).isNull()))


def decoded_or_failed(records: DataFrame) -> DataFrame:
    """For windows: a record that cannot be decoded fails the batch, which has no place for it."""
    value = records.schema["value"].dataType
    if not isinstance(value, StructType):
        return records
    text = F.format_string(
        "topic %s, partition %d, offset %d cannot be decoded: %s. A pipeline with windows has no "
        "topic for bad records: declare another one with `bad`, which writes the good ones to a "
        "topic, and read that",
        "topic", "partition", "offset", BAD_REASON,
    )  # fmt: skip
    is_bad = F.col(BAD_REASON).isNotNull()
    failed = F.raise_error(text).cast("boolean")
    return with_fields(records.where(F.when(is_bad, failed).otherwise(F.lit(True))))


def with_fields(records: DataFrame) -> DataFrame:
    value = records.schema["value"].dataType
    if not isinstance(value, StructType):
        return records
    good = records.drop(BAD_VALUE, BAD_REASON)
    fields = [name for name in value.fieldNames() if name not in good.columns]
    return good.select("*", *(F.col(f"value.`{name}`").alias(name) for name in fields))


def check_watermark(records: DataFrame, pipeline: Pipeline) -> None:
    if pipeline.watermark is None:
        return
    name = pipeline.watermark.column
    try:
        found = records.select(F.col(name)).schema[0].dataType
    except AnalysisException:
        known = ", ".join(records.columns)
        raise PipelineError(
            f"{pipeline.name}: watermark: there is no column {name}: there is {known}"
        ) from None
    if not isinstance(found, TimestampType):
        raise PipelineError(
            f"{pipeline.name}: watermark: {name} is {found.simpleString()}, and must be a timestamp"
        )


def transform(records: DataFrame, pipeline: Pipeline) -> DataFrame:
    """The rows of the pipeline's query; the tables it names are views of the session already."""
    if pipeline.python is not None:
        found = load_function(pipeline.python)(records)
        if not isinstance(found, DataFrame):
            raise PipelineError(
                f"{pipeline.name}: {pipeline.python} returned {type(found).__name__}, and must "
                "return a DataFrame"
            )
        return found
    assert pipeline.sql is not None
    records.createOrReplaceTempView(INPUT)
    return records.sparkSession.sql(pipeline.sql)


def load_function(name: str) -> Any:
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise PipelineError(
            f"python: {name} cannot be loaded: {error}. Modules beside the pipeline file are found"
        ) from error
    if not callable(found):
        raise PipelineError(f"python: {name} is no function")
    return found


def latest_values(records: DataFrame) -> DataFrame:
    """The newest value of each key of a compacted topic, without those that were deleted. One that
    cannot be decoded fails the batch: without it, rows would be joined as if it were deleted."""
    newest_first = Window.partitionBy("partition", "key").orderBy(F.desc("offset"))
    ranked = records.withColumn("rank", F.row_number().over(newest_first)).where("rank = 1")
    is_kept = F.col("value").isNotNull()
    if BAD_REASON in records.columns:  # one expression: Spark may reorder several conditions
        is_bad = (F.col("rank") == 1) & F.col(BAD_REASON).isNotNull()
        is_kept = F.when(is_bad, F.raise_error(_bad_text()).cast("boolean")).otherwise(is_kept)
    return with_fields(ranked.where(is_kept).drop("rank"))


def _bad_text() -> Column:
    return F.format_string(
        "the newest value of a key of a table cannot be decoded: topic %s, partition %d, offset "
        "%d: %s. Write the key again, or delete it with a null value",
        "topic", "partition", "offset", BAD_REASON,
    )  # fmt: skip


def register_tables(spark: Any, declared: Declaration, pipeline: Pipeline) -> None:
    """Each table as of now. Read for every batch: what changed since is seen."""
    for name, table in (pipeline.tables or {}).items():
        cluster = declared.cluster_of(table.cluster or pipeline.source.cluster)
        options = {**kafka_options(cluster), **_table_options(table)}
        records = spark.read.format("ottla").options(**options).load()
        latest_values(records).createOrReplaceTempView(name)


def _table_options(table: Table) -> dict[str, str]:
    options = {
        "subscribe": table.topic,
        "startingOffsets": "earliest",
        "kafka.isolation.level": "read_committed",
        "kafka.group.id": f"ottla-table-{uuid.uuid4().hex[:8]}",
    }
    if table.value is not None:
        options |= {"valueFormat": table.value.format, "valueSchema": table.value.schema}
    return options
