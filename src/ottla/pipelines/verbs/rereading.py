"""Reading records of a table's topics again, into files that no commit has named yet.

Owns      choosing this process or Spark, and reading what each batch read with the rules of that
          batch: what was late then is late again. Bad and late records are not
          written to their topics again.
Leaves    which offsets to `missing.py`, the commit to the verbs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pyspark.sql import functions as F  # noqa: N812 - as everyone writes it
from pyspark.sql.types import StructType

from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.declaration.tree import ClusterAddress, Declaration, Pipeline
from ottla.pipelines.lake.committing import remove_files
from ottla.pipelines.lake.manifest import Manifest
from ottla.pipelines.lake.table import LakeTable
from ottla.pipelines.running.batch import select_record
from ottla.pipelines.running.checkpoint import BatchOffsets
from ottla.pipelines.running.chosen_offsets import ChosenOffsets
from ottla.pipelines.running.cluster_options import client_settings, kafka_options
from ottla.pipelines.running.lake_plans import lake_plan
from ottla.pipelines.running.tasks import (
    REPORT_SCHEMA,
    ChosenHours,
    LakePlan,
    LakeTask,
    TaskReport,
    lake_task,
    reports_of,
)
from ottla.pipelines.running.transforms import (
    decoded_only,
    has_transform,
    register_tables,
    transform,
)
from ottla.pipelines.verbs.local_reading import records_of
from ottla.pipelines.verbs.missing import (
    Range,
    Ranges,
    by_batch,
    covered,
    intersection,
    joined_ranges,
    size,
)
from ottla.pipelines.verbs.progress import Progress
from ottla.spark.records.schema import full_schema

LOCAL_MAX = 5_000_000  # offsets that this process reads by itself
SPARK_RANGES_MAX = 20  # of a partition: Spark plans an expression for each


class Rereading:
    """Reads ranges of offsets once more; `reports` are those of all tasks so far."""

    def __init__(
        self,
        declared: Declaration,
        pipeline: Pipeline,
        table: LakeTable,
        query: str,
        topics: Mapping[str, str],
        open_session: Callable[[], Any],
        progress: Progress,
    ) -> None:
        self._pipeline = pipeline
        self._table = table
        self._progress = progress
        self._source = RereadSource(declared, pipeline, table, query, topics)
        self._open_session = open_session
        self._number = 0
        self.reports: list[TaskReport] = []

    def read(
        self, ranges: Ranges, commits: Sequence[Manifest], chosen: ChosenHours | None = None
    ) -> None:
        """What the batches of the table have read; `commits` are all of them, the oldest first."""
        ranges = intersection(ranges, covered(commits))
        if not ranges:
            return
        job: LocalJob | SparkJob
        if size(ranges) <= LOCAL_MAX and not has_transform(self._pipeline):
            self._progress.begin("reading offsets", size(ranges))
            job = LocalJob(self._source, self._progress)
        else:
            self._progress.begin(f"reading {size(ranges):,} offsets with Spark")
            job = SparkJob(self._source, self._open_session())
        for before, share in self._shares(ranges, commits):
            newest_ms = None if before is None else before.newest_ms
            self.reports += job.read(self._number, share, newest_ms, chosen)
            self._number += 1
        self._progress.begin("committing")

    def _shares(
        self, ranges: Ranges, commits: Sequence[Manifest]
    ) -> list[tuple[Manifest | None, Ranges]]:
        """By batch only where the batch decides what is late: files are larger without."""
        if self._pipeline.late is None:
            return [(None, ranges)]
        return by_batch(ranges, commits)

    def discard(self) -> None:
        """Remove the files; before their commit only, which may be decided although it fails."""
        remove_files(self._table, [file for each in self.reports for file in each.files])


@dataclass(frozen=True)
class RereadSource:
    """What is read again: the topics of a table. `topics` are ids by name."""

    declared: Declaration
    pipeline: Pipeline
    table: LakeTable
    query: str
    topics: Mapping[str, str]

    @property
    def names(self) -> dict[str, str]:
        """By topic id."""
        return {topic_id: name for name, topic_id in self.topics.items()}

    @property
    def cluster(self) -> ClusterAddress:
        return self.declared.cluster_of(self.pipeline.source.cluster)

    def plan(
        self, number: int, newest_ms: int | None, columns: StructType, chosen: ChosenHours | None
    ) -> LakePlan:
        """`number` distinguishes the files of this plan; `newest_ms` decides what is late."""
        wanted = BatchOffsets(self.query, number, dict(self.topics), {}, {})
        plan = lake_plan(self.pipeline, self.table, wanted, newest_ms, None, columns)
        return replace(plan, chosen=chosen)


class LocalJob:
    """Reads in this process."""

    def __init__(self, source: RereadSource, progress: Progress) -> None:
        self._source = source
        self._progress = progress

    def read(
        self, number: int, ranges: Ranges, newest_ms: int | None, chosen: ChosenHours | None
    ) -> list[TaskReport]:
        source = self._source
        plan = source.plan(number, newest_ms, full_schema(with_headers=True), chosen)
        with Cluster(client_settings(source.cluster)) as cluster:
            records = self._progress.counting(records_of(cluster, ranges, source.names))
            return [LakeTask(plan).run(records)]


class SparkJob:
    """Reads with Spark, as the pipeline does."""

    def __init__(self, source: RereadSource, spark: Any) -> None:
        self._source = source
        self._pipeline = source.pipeline
        self._spark = spark

    def read(
        self, number: int, ranges: Ranges, newest_ms: int | None, chosen: ChosenHours | None
    ) -> list[TaskReport]:
        rows = self._rows(ranges)
        if has_transform(self._pipeline):
            register_tables(self._spark, self._source.declared, self._pipeline)
            rows = transform(decoded_only(rows), self._pipeline)
        plan = self._source.plan(number, newest_ms, rows.schema, chosen)
        names = self._source.names
        offsets = {(names[each], partition): spans for (each, partition), spans in ranges.items()}
        plan = replace(plan, offsets=ChosenOffsets(offsets))
        if not has_transform(self._pipeline):
            rows = select_record(rows)
        return reports_of(rows.mapInArrow(partial(lake_task, plan), REPORT_SCHEMA).collect())

    def _rows(self, ranges: Ranges) -> Any:
        """The records of the ranges, and of small gaps between them, which tasks leave out."""
        starts: dict[str, dict[str, int]] = {}
        ends: dict[str, dict[str, int]] = {}
        condition, names = F.lit(False), self._source.names
        for (topic_id, partition), spans in ranges.items():
            name = names[topic_id]
            starts.setdefault(name, {})[str(partition)] = spans[0][0]
            ends.setdefault(name, {})[str(partition)] = spans[-1][1]
            joined = joined_ranges(spans, SPARK_RANGES_MAX)
            condition = condition | (_of_partition(name, partition) & _within(joined))
        return self._load(starts, ends).where(condition)

    def _load(self, starts: dict[str, dict[str, int]], ends: dict[str, dict[str, int]]) -> Any:
        assigned = {name: sorted(map(int, each)) for name, each in starts.items()}
        options = {
            **kafka_options(self._source.cluster),
            "kafka.isolation.level": "read_committed",
            "kafka.group.id": self._source.query,
            "assign": json.dumps(assigned),
            "startingOffsets": json.dumps(starts),
            "endingOffsets": json.dumps(ends),
            "includeHeaders": "true",
        }
        value = self._pipeline.source.value
        if value is not None and has_transform(self._pipeline):
            options |= {"valueFormat": value.format, "valueSchema": value.schema}
        return self._spark.read.format("ottla").options(**options).load()


def _of_partition(topic: str, partition: int) -> Any:
    return (F.col("topic") == topic) & (F.col("partition") == partition)


def _within(spans: Sequence[Range]) -> Any:
    inside = F.lit(False)
    for start, end in spans:
        inside = inside | ((F.col("offset") >= start) & (F.col("offset") < end))
    return inside
