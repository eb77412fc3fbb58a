"""The options and the schema of one query, parsed and checked; readers are created from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql.types import StructType

from ottla.spark.data_loss import LossPolicy
from ottla.spark.options.consumer_options import KafkaOptions, parse_kafka_options
from ottla.spark.options.source_checks import check_batch, check_stream
from ottla.spark.options.source_options import SourceOptions, parse_options
from ottla.spark.planning.pushed_filters import NO_BOUNDS, Bounds
from ottla.spark.planning.read_tasks import ReadPlan
from ottla.spark.records.schema import check_schema, full_schema
from ottla.spark.records.value_types import check_value_type, decoded_schema
from ottla.spark.source.parquet_files import check_directory, check_file_schema


@dataclass(frozen=True)
class Query:
    """Picklable, as readers must be."""

    options: SourceOptions
    kafka: KafkaOptions
    schema: StructType  # of the records, also where they go into files
    is_stream: bool = False

    @property
    def loss_policy(self) -> LossPolicy:
        return LossPolicy(self.options.fail_on_data_loss, self.is_stream)

    def read_plan(self, bounds: Bounds = NO_BOUNDS) -> ReadPlan:
        options = self.options
        return ReadPlan(
            self.kafka.settings,
            self.schema,
            "headers" in self.schema.fieldNames(),
            self.loss_policy,
            options.batch_bytes_max,
            bounds,
            options.value_format,
            options.value_schema,
            options.files_to,
        )


def parse_query(texts: Mapping[str, str], schema: StructType, *, is_stream: bool = False) -> Query:
    """InvalidOption names what is wrong."""
    options = parse_options(texts)
    (check_stream if is_stream else check_batch)(options)
    if options.files_to is not None:
        check_directory(options.files_to)
        check_file_schema(schema)
        schema = record_schema(options)
    _check_schema(schema, options)
    kafka = parse_kafka_options(texts, options.poll_timeout_ms)
    return Query(options, kafka, schema, is_stream)


def record_schema(options: SourceOptions) -> StructType:
    """All columns that the options ask for."""
    if options.value_format is None:
        return full_schema(with_headers=options.include_headers)
    schema = decoded_schema(options)
    _check_schema(schema, options)
    return schema


def _check_schema(schema: StructType, options: SourceOptions) -> None:
    check_schema(
        schema,
        with_headers=options.include_headers,
        decodes_values=options.value_format is not None,
    )
    if options.value_format is not None:
        check_value_type(options.value_format, options.value_schema, schema["value"].dataType)
