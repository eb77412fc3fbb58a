"""`spark.read`: a range of offsets of each partition, once.

Owns      planning a batch on the driver.
Promises  the ends are looked up when the query is planned, so that every task has a fixed range.
          No connection is opened before `partitions` and `read`.
Leaves    reading to `task_reader.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from ottla.base.ids import NO_LEADER_EPOCH
from ottla.client.cluster.cluster import Cluster
from ottla.spark.brief_errors import brief, brief_rows
from ottla.spark.options.positions import Earliest
from ottla.spark.options.source_checks import ending_position, starting_position
from ottla.spark.options.source_options import SourceOptions
from ottla.spark.planning.pushed_filters import Bounds, gather
from ottla.spark.planning.range_splitting import BATCH_SPLIT_OFFSETS, TaskRange
from ottla.spark.planning.read_tasks import TaskRanges
from ottla.spark.source.position_lookup import Logs, find_start_by_time, resolve_end, resolve_start
from ottla.spark.source.query import Query
from ottla.spark.source.record_sizes import RecordSizes
from ottla.spark.source.task_planning import plan_tasks
from ottla.spark.source.task_reader import read_task
from ottla.spark.source.topics import find_topics, selection_text

log = logging.getLogger("ottla.spark")


class BatchReader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, query: Query) -> None:
        self.query = query
        self.bounds = Bounds()

    @brief
    def partitions(self) -> Sequence[InputPartition]:
        with Cluster(self.query.kafka.settings) as cluster:
            ranges = plan_ranges(cluster, self.query, self.bounds)
            return plan_batch_tasks(cluster, ranges, self.query.options)

    @brief_rows
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_task(self.query.read_plan(self.bounds), partition)


class FilteringBatchReader(BatchReader):
    """The same for queries whose filters Spark passes on."""

    def pushFilters(self, filters: list[Filter]) -> list[Filter]:  # noqa: N802
        self.bounds = gather(filters)
        return filters


def plan_ranges(cluster: Cluster, query: Query, bounds: Bounds) -> list[TaskRange]:
    options = query.options
    topics = find_topics(cluster, options)
    topics.demand_all()
    if not topics.partitions:  # only a pattern may match nothing
        log.warning("no topic matches %s: the batch is empty", selection_text(options))
    logs, partitions = Logs(cluster), topics.partitions
    starts = resolve_start(logs, starting_position(options, Earliest()), partitions, query)
    at_end = Logs(cluster)  # only epochs that came with the ends, not with the starts
    ends = resolve_end(at_end, ending_position(options), partitions, query)
    ranges = {
        partition: bounds.narrowed(starts[partition], ends[partition])
        for partition in partitions
        if bounds.may_hold(partition)
    }
    if bounds.search_ms is not None:
        ranges = find_start_by_time(logs, ranges, bounds.search_ms)
    return [
        TaskRange(
            partition,
            start,
            end,
            topics.topic_ids.get(partition.topic, b""),
            at_end.end_epochs.get(partition, NO_LEADER_EPOCH),
        )
        for partition, (start, end) in ranges.items()
    ]


def plan_batch_tasks(
    cluster: Cluster, ranges: Sequence[TaskRange], options: SourceOptions
) -> list[TaskRanges]:
    records_max = options.max_records_per_partition
    if records_max is None and not options.preserve_order:
        records_max = BATCH_SPLIT_OFFSETS
    return plan_tasks(cluster, ranges, options, records_max=records_max, sizes=RecordSizes())
