"""Adding to a table the records that it lacks.

Owns      finding them, reading them again, and one commit with their rows.
Promises  only offsets that the table does not have are added, so that a backfill may be repeated;
          a record is bad or late as in the batch that read it first, and is not put aside again.
          Two backfills at the same time do not add a row twice: one of them is refused.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812 - as everyone writes it

from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.declaration.tree import Declaration, Lake, Pipeline
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.committing import commit, count_repairs
from ottla.pipelines.lake.manifest import BACKFILL, Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable, chain
from ottla.pipelines.running.batch import RECORD, total
from ottla.pipelines.running.checkpoint import BatchRange
from ottla.pipelines.running.cluster_options import client_settings, kafka_options
from ottla.pipelines.running.lake_plans import lake_plan
from ottla.pipelines.running.tasks import (
    REPORT_SCHEMA,
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
    Place,
    Ranges,
    by_batch,
    covered,
    missing_ranges,
    parse_offsets,
    size,
)
from ottla.pipelines.verbs.times import Times, within
from ottla.spark.records.schema import full_schema

PLACE_COLUMNS = ["topic_id", "partition", "offset"]
ALWAYS = Times()
LOCAL_MAX = 5_000_000  # offsets that this process reads by itself


@dataclass(frozen=True)
class Backfilled:
    """`missing` are offsets, `added` rows: some offsets have no record, or none for the table."""

    missing: int
    added: int
    bad: int
    late: int
    files: int
    dropped_files: tuple[str, ...]


def backfill(
    declared: Declaration,
    pipeline: Pipeline,
    offsets: Sequence[str],
    open_session: Callable[[], Any],
    times: Times = ALWAYS,
) -> Backfilled:
    """Of `offsets` (`TOPIC:PARTITION:FIRST-LAST`), or of all that the table should have; with
    `times` only of records with these timestamps. Spark is
    started only if much is missing, or for sql and Python."""
    table = _table_of(pipeline)
    commits = list(chain(table))[::-1]
    if not commits:
        raise PipelineError(f"{pipeline.name} has written nothing yet: run it first")
    repairs = count_repairs(table)
    # Files of a batch that is being published right now are missing, too.
    known = {file.path for each in commits for file in each.files}
    dropped = [path for path in table.drop_missing_files() if path in known]
    topics = {name: each for commit_ in commits for name, each in commit_.topics.items()}
    wanted: Ranges = parse_offsets(offsets, topics) if offsets else covered(commits)
    if times != ALWAYS:
        with Cluster(client_settings(declared.cluster_of(pipeline.source.cluster))) as cluster:
            wanted = within(cluster, wanted, {each: name for name, each in topics.items()}, times)
    missing = missing_ranges(wanted, present_offsets(table))
    if not missing and not dropped:
        return Backfilled(0, 0, 0, 0, 0, ())
    reports: list[TaskReport] = []
    query = f"backfill-{uuid.uuid4().hex[:12]}"
    is_local = size(missing) <= LOCAL_MAX and not has_transform(pipeline)
    kind = LocalJob if is_local else SparkJob
    job = kind(declared, pipeline, table, query, topics, open_session)
    for number, (before, share) in enumerate(by_batch(missing, commits)):
        reports += job.read(number, share, None if before is None else before.newest_ms)
    manifest = _manifest(pipeline, query, topics, missing, reports, dropped)
    commit(table, manifest, repairs)
    counts = manifest.counts
    return Backfilled(
        size(missing), counts.written, counts.bad, counts.late, len(manifest.files), tuple(dropped)
    )


def _table_of(pipeline: Pipeline) -> LakeTable:
    if not isinstance(pipeline.to, Lake):
        raise PipelineError(
            f"{pipeline.place}: {pipeline.name} writes to a topic: only a lake has rows to add"
        )
    return open_table(pipeline.to, pipeline.name)


def present_offsets(table: LakeTable) -> Mapping[Place, npt.NDArray[np.int64]]:
    """The sorted offsets of all rows."""
    rows = table.rows(PLACE_COLUMNS)
    found: dict[Place, npt.NDArray[np.int64]] = {}
    for topic_id in pc.unique(rows.column("topic_id")).to_pylist():
        of_topic = rows.filter(pc.equal(rows.column("topic_id"), topic_id))
        for number in pc.unique(of_topic.column("partition")).to_pylist():
            mask = pc.equal(of_topic.column("partition"), number)
            offsets = of_topic.filter(mask).column("offset").to_numpy()
            found[Place(topic_id, number)] = np.unique(offsets)
    return found


def _manifest(
    pipeline: Pipeline,
    query: str,
    topics: Mapping[str, str],
    missing: Ranges,
    reports: Sequence[TaskReport],
    dropped: Sequence[str],
) -> Manifest:
    low: dict[str, dict[str, int]] = {}
    for place, spans in missing.items():
        low.setdefault(place.topic_id, {})[str(place.partition)] = spans[0][0]
    return Manifest(
        pipeline.name,
        query,
        0,
        kind=BACKFILL,
        topics=topics,
        starts=low,
        counts=total(reports),
        files=tuple(file for each in reports for file in each.files),
        removed=tuple(dropped),
    )


class LocalJob:
    """Reads ranges of offsets in this process, into files of the table."""

    def __init__(
        self,
        declared: Declaration,
        pipeline: Pipeline,
        table: LakeTable,
        query: str,
        topics: Mapping[str, str],
        _open_session: Callable[[], Any],
    ) -> None:
        self._settings = client_settings(declared.cluster_of(pipeline.source.cluster))
        self._pipeline = pipeline
        self._table = table
        self._query = query
        self._topics = topics

    def read(self, number: int, ranges: Ranges, newest_ms: int | None) -> list[TaskReport]:
        wanted = BatchRange(self._query, number, dict(self._topics), {}, {})
        source = full_schema(with_headers=True)
        plan = lake_plan(self._pipeline, self._table, wanted, newest_ms, None, source)
        names = {topic_id: name for name, topic_id in self._topics.items()}
        with Cluster(self._settings) as cluster:
            return [LakeTask(plan).run(records_of(cluster, ranges, names))]


class SparkJob:
    """The same with Spark, as the pipeline does it."""

    def __init__(
        self,
        declared: Declaration,
        pipeline: Pipeline,
        table: LakeTable,
        query: str,
        topics: Mapping[str, str],
        open_session: Callable[[], Any],
    ) -> None:
        self._declared = declared
        self._pipeline = pipeline
        self._table = table
        self._query = query
        self._topics = topics
        self._spark = open_session()

    def read(self, number: int, ranges: Ranges, newest_ms: int | None) -> list[TaskReport]:
        rows = self._chosen(ranges)
        if has_transform(self._pipeline):
            register_tables(self._spark, self._declared, self._pipeline)
            rows = transform(decoded_only(rows), self._pipeline)
        wanted = BatchRange(self._query, number, dict(self._topics), {}, {})
        plan = lake_plan(self._pipeline, self._table, wanted, newest_ms, None, rows.schema)
        if not has_transform(self._pipeline):
            rows = rows.select(*RECORD)
        return reports_of(rows.mapInArrow(partial(lake_task, plan), REPORT_SCHEMA).collect())

    def _chosen(self, ranges: Ranges) -> Any:
        """The records from the first to the last of each partition, then only those in ranges."""
        names = {topic_id: name for name, topic_id in self._topics.items()}
        starts: dict[str, dict[str, int]] = {}
        ends: dict[str, dict[str, int]] = {}
        condition = F.lit(False)
        for place, spans in ranges.items():
            name = names[place.topic_id]
            starts.setdefault(name, {})[str(place.partition)] = spans[0][0]
            ends.setdefault(name, {})[str(place.partition)] = spans[-1][1]
            here = (F.col("topic") == name) & (F.col("partition") == place.partition)
            inside = F.lit(False)
            for start, end in spans:
                inside = inside | ((F.col("offset") >= start) & (F.col("offset") < end))
            condition = condition | (here & inside)
        assigned = {name: sorted(map(int, each)) for name, each in starts.items()}
        options = {
            **kafka_options(self._declared.cluster_of(self._pipeline.source.cluster)),
            "kafka.isolation.level": "read_committed",
            "kafka.group.id": self._query,
            "assign": json.dumps(assigned),
            "startingOffsets": json.dumps(starts),
            "endingOffsets": json.dumps(ends),
            "includeHeaders": "true",
        }
        value = self._pipeline.source.value
        if value is not None and has_transform(self._pipeline):
            options |= {"valueFormat": value.format, "valueSchema": value.schema}
        return self._spark.read.format("ottla").options(**options).load().where(condition)
