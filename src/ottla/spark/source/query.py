"""One query's wishes, parsed and checked: what readers on the driver and tasks are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql.types import StructType

from ottla.config.options import InvalidOption
from ottla.spark.options.consumer_options import KafkaOptions, parse_kafka_options
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

    def read_plan(self, bounds: Bounds = NO_BOUNDS) -> ReadPlan:
        options = self.options
        return ReadPlan(
            self.kafka.settings,
            self.schema,
            "headers" in self.schema.fieldNames(),
            options.fail_on_data_loss,
            options.batch_bytes_max,
            bounds,
            options.value_format,
            options.value_schema,
            options.files_to,
        )


def parse_query(
    texts: Mapping[str, str], schema: StructType, check: Callable[[SourceOptions], None]
) -> Query:
    """InvalidOption names what is wrong."""
    options = parse_options(texts)
    check(options)
    if options.files_to is not None:
        check_directory(options.files_to)
        check_file_schema(schema)
        schema = _schema_in_files(options)
    check_schema(
        schema,
        with_headers=options.include_headers,
        decodes_values=options.value_format is not None,
    )
    if options.value_format is not None:
        check_value_type(options.value_format, options.value_schema, schema["value"].dataType)
    return Query(options, parse_kafka_options(texts, options.poll_timeout_ms), schema)


def record_schema(options: SourceOptions) -> StructType | str:
    """All columns that the options ask for. A string where Spark must read it: DDL."""
    if options.value_format is None:
        return full_schema(with_headers=options.include_headers)
    return decoded_schema(options)


def _schema_in_files(options: SourceOptions) -> StructType:
    schema = record_schema(options)
    if isinstance(schema, str):
        raise InvalidOption(
            "Option filesTo needs valueSchema in Spark's JSON, as df.schema.json() gives it: "
            "Spark reads DDL only for rows that pass through it."
        )
    return schema
