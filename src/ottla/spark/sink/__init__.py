"""Writing with the format `ottla`: batches all or nothing, streams exactly once, without a jar.

    df.write.format("ottla").option("kafka.bootstrap.servers", "host:9092")
        .option("topic", "orders").mode("append").save()

Every task attempt writes in a transaction of its own and leaves it open; the driver writes down
which of them count, in one record, and then commits these and aborts all others.

    options  columns  names        what was asked for, checked on the driver
        |
    writers ── driver              fence, recover; decide, commit, abort   (decision_log, plan)
        |
    task_writer ── splitting       on the executors: rows to partitions to record batches
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from ottla.spark.sink.writers import BatchWriter, StreamWriter


def batch_writer(schema: StructType, options: Mapping[str, str], overwrite: bool) -> BatchWriter:
    """For `DataSource.writer`. InvalidOption or SinkError says what is wrong and what to do."""
    from ottla.config.options import InvalidOption
    from ottla.spark.sink.setup import set_up
    from ottla.spark.sink.writers import new_batch_writer

    if overwrite:
        raise InvalidOption(
            "The mode overwrite would mean to delete what a topic holds: topics are only appended "
            'to. Use mode("append").'
        )
    return new_batch_writer(set_up(schema, options))


def stream_writer(schema: StructType, options: Mapping[str, str], overwrite: bool) -> StreamWriter:
    """For `DataSource.streamWriter`. The output mode complete (`overwrite`) appends all rows of
    every batch, as Spark's own `kafka` format does."""
    from ottla.spark.sink.setup import set_up
    from ottla.spark.sink.writers import new_stream_writer

    del overwrite
    return new_stream_writer(set_up(schema, options))
