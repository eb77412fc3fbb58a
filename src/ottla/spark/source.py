"""What `pyspark_ottla.DefaultSource` calls: schema and readers of a query, from its options."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from ottla.spark.batch_reader import BatchReader, FilteringBatchReader
from ottla.spark.file_tasks import FILE_ROWS, check_directory
from ottla.spark.kafka_options import parse_kafka_options
from ottla.spark.option_checks import check_batch, check_common, check_stream
from ottla.spark.options import parse_options
from ottla.spark.query import parse_query, record_schema
from ottla.spark.stream_reader import StreamReader
from ottla.spark.versions import check_spark

# Spark runs this module, in a process of its own, where spark.sql.python.filterPushdown.enabled
# is on and a query has filters. A reader that takes filters is refused everywhere else. The option
# pushFilters is needed besides, because Spark 4.3 keeps the plan of the first filters with the
# DataFrame: without filters, or with others, the same DataFrame would then give wrong rows.
FILTER_PLANNER = "pyspark.sql.worker.data_source_pushdown_filters"


def schema_of(options: Mapping[str, str]) -> StructType | str:
    """Called by `load()`, so that wrong options are told there."""
    check_spark()
    parsed = parse_options(options)
    check_common(parsed)
    parse_kafka_options(options, parsed.poll_timeout_ms)
    if parsed.files_to is None:
        return record_schema(parsed)
    check_directory(parsed.files_to)
    return FILE_ROWS


def batch_reader(options: Mapping[str, str], schema: StructType) -> DataSourceReader:
    check_spark()
    query = parse_query(options, schema, check_batch)
    takes_filters = query.options.push_filters and is_taking_filters()
    return FilteringBatchReader(query) if takes_filters else BatchReader(query)


def stream_reader(options: Mapping[str, str], schema: StructType) -> DataSourceStreamReader:
    check_spark()
    return StreamReader(parse_query(options, schema, check_stream))


def is_taking_filters() -> bool:
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return FILTER_PLANNER in sys.modules or getattr(spec, "name", None) == FILTER_PLANNER
