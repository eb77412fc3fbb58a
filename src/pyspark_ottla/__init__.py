"""What Spark finds by itself: `format("ottla")`, for reading and writing topics without a jar.

Spark imports every module whose name begins with `pyspark_` at the first use of any data source,
and takes its `DefaultSource`. So this one stays small and never fails: the rest is imported when
a query uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType
else:
    try:
        from pyspark.sql.datasource import DataSource
    except ImportError:  # no Spark, or one before 4.0: it finds no source here, and says so
        DataSource = object


class DefaultSource(DataSource):  # type: ignore[misc]
    """The source `ottla`. Spark makes it anew for every step of a query, from the options."""

    @classmethod
    def name(cls) -> str:
        return "ottla"

    def schema(self) -> Any:
        from ottla.spark.data_source import schema_of

        return schema_of(self.options)

    def reader(self, schema: StructType) -> DataSourceReader:
        from ottla.spark.data_source import batch_reader

        return batch_reader(self.options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        from ottla.spark.data_source import stream_reader

        return stream_reader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from ottla.spark.data_source import batch_writer

        return batch_writer(schema, self.options, overwrite)

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        from ottla.spark.data_source import stream_writer

        return stream_writer(schema, self.options, overwrite)
