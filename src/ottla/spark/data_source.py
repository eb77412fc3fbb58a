"""Called by `pyspark_ottla.DefaultSource`: schema, readers and writers, created from the options.

Promises  InvalidOption, SourceError or SinkError says what is wrong and what to do, before a task
          starts. Modules are imported when they are needed: Spark calls each function in a new
          process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ottla.config.options import InvalidOption
from ottla.spark.brief_errors import brief
from ottla.spark.errors import SourceError
from ottla.spark.process_model import RefusedStreamReader, is_planning_filters
from ottla.spark.versions import check_spark

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
    from pyspark.sql.types import StructType

    from ottla.spark.sink.writers import BatchWriter, StreamWriter


@brief
def schema_of(options: Mapping[str, str]) -> StructType:
    """Called by `load()`, so that wrong options are reported there."""
    from ottla.spark.options.consumer_options import parse_kafka_options
    from ottla.spark.options.source_checks import check_common
    from ottla.spark.options.source_options import parse_options
    from ottla.spark.source.parquet_files import FILE_ROWS, check_directory
    from ottla.spark.source.query import record_schema

    check_spark()
    parsed = parse_options(options)
    check_common(parsed)
    parse_kafka_options(options, parsed.poll_timeout_ms)
    if parsed.files_to is None:
        return record_schema(parsed)
    check_directory(parsed.files_to)
    return FILE_ROWS


@brief
def batch_reader(options: Mapping[str, str], schema: StructType) -> DataSourceReader:
    from ottla.spark.source.batch_reader import BatchReader, FilteringBatchReader
    from ottla.spark.source.query import parse_query

    check_spark()
    query = parse_query(options, schema)
    # The option is needed as well: Spark 4.3 keeps the plan of the first filters with the
    # DataFrame, so that the same DataFrame would give wrong rows without or with other filters.
    takes_filters = query.options.push_filters and is_planning_filters()
    return FilteringBatchReader(query) if takes_filters else BatchReader(query)


def stream_reader(options: Mapping[str, str], schema: StructType) -> DataSourceStreamReader:
    from ottla.spark.source.query import parse_query
    from ottla.spark.source.stream_reader import StreamReader

    try:
        check_spark()
        return StreamReader(parse_query(options, schema, is_stream=True))
    except (InvalidOption, SourceError) as error:
        return RefusedStreamReader(error)


@brief
def batch_writer(schema: StructType, options: Mapping[str, str], overwrite: bool) -> BatchWriter:
    from ottla.spark.sink.setup import set_up
    from ottla.spark.sink.writers import new_batch_writer

    if overwrite:
        raise InvalidOption(
            "The mode overwrite would mean to delete what a topic holds: topics are only appended "
            'to. Use mode("append").'
        )
    return new_batch_writer(set_up(schema, options))


@brief
def stream_writer(schema: StructType, options: Mapping[str, str], overwrite: bool) -> StreamWriter:
    """The output mode complete (`overwrite`) appends all rows of every batch, as Spark's own
    `kafka` format does."""
    from ottla.spark.sink.setup import set_up
    from ottla.spark.sink.writers import new_stream_writer

    del overwrite
    return new_stream_writer(set_up(schema, options))
