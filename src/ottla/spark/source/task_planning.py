"""The tasks of a read: large ranges are split, small ones share a task.

Leaves    the decisions to `planning/`, and which ranges are read to the readers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ottla.client.cluster.cluster import Cluster
from ottla.spark.options.source_options import SourceOptions
from ottla.spark.planning.range_packing import Packing, Ranges, has_small_ranges, pack, tasks_min_of
from ottla.spark.planning.range_splitting import TaskRange, split_ranges
from ottla.spark.planning.read_tasks import KnownLeaders, TaskRanges
from ottla.spark.source.record_sizes import RecordSizes


def plan_tasks(
    cluster: Cluster,
    ranges: Sequence[TaskRange],
    options: SourceOptions,
    *,
    records_max: int | None,
    sizes: RecordSizes,
) -> list[TaskRanges]:
    """Ranges of more than `records_max` offsets are split. The size of records is looked up only
    if it makes a difference."""
    pieces = split_ranges(
        ranges,
        min_partitions=options.min_partitions,
        max_records_per_partition=records_max,
    )
    tasks_min = tasks_min_of(cores_here(), options.min_partitions)
    packing = Packing(tasks_min, options.max_records_per_partition)
    if not options.pack_partitions or not has_small_ranges(pieces, packing):
        return _with_topology(cluster, [(each,) for each in pieces])
    found = sizes.of(cluster, [each.partition for each in pieces])
    return _with_topology(cluster, pack(pieces, replace(packing, record_bytes=found)))


def _with_topology(cluster: Cluster, tasks: Sequence[Ranges]) -> list[TaskRanges]:
    has_rack = bool(cluster.settings.client_rack)
    return [
        TaskRanges(each, KnownLeaders.of(cluster.topology, each, with_all_brokers=has_rack))
        for each in tasks
    ]


def cores_here() -> int:
    return os.cpu_count() or 1
