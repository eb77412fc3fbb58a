"""What Spark carries from the driver to tasks: the ranges of each, and what is the same for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from ottla.client.settings import ClientSettings
from ottla.spark.filters import Bounds
from ottla.spark.query import Query
from ottla.spark.splitting import OffsetRange


class TaskRanges(InputPartition):  # type: ignore[misc]
    """What one task reads: a range, or several small ones of different partitions."""

    def __init__(self, ranges: Sequence[OffsetRange]) -> None:
        self.ranges = tuple(ranges)
        super().__init__(self.ranges)


@dataclass(frozen=True)
class TaskPlan:
    """What is the same for all tasks of a query."""

    settings: ClientSettings
    schema: StructType
    with_headers: bool
    fail_on_data_loss: bool
    batch_bytes_max: int
    bounds: Bounds
    value_format: str | None = None
    value_schema: str | None = None
    files_to: str | None = None

    @classmethod
    def of(cls, query: Query, bounds: Bounds) -> TaskPlan:
        options = query.options
        return cls(
            query.kafka.settings,
            query.schema,
            "headers" in query.schema.fieldNames(),
            options.fail_on_data_loss,
            options.batch_bytes_max,
            bounds,
            options.value_format,
            options.value_schema,
            options.files_to,
        )
