"""One query's wishes, parsed and checked: what readers on the driver and tasks are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql.types import StructType

from ottla.spark.kafka_options import KafkaOptions, parse_kafka_options
from ottla.spark.options import SourceOptions, parse_options
from ottla.spark.schema import check_schema
from ottla.spark.value_types import check_value_type


@dataclass(frozen=True)
class Query:
    """Picklable, as readers must be."""

    options: SourceOptions
    kafka: KafkaOptions
    schema: StructType


def parse_query(
    texts: Mapping[str, str], schema: StructType, check: Callable[[SourceOptions], None]
) -> Query:
    """InvalidOption names what is wrong."""
    options = parse_options(texts)
    check(options)
    check_schema(
        schema,
        with_headers=options.include_headers,
        decodes_values=options.value_format is not None,
    )
    if options.value_format is not None:
        check_value_type(options.value_format, options.value_schema, schema["value"].dataType)
    return Query(options, parse_kafka_options(texts, options.poll_timeout_ms), schema)
