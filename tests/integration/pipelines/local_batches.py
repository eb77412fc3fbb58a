"""Batches of a declared lake in the test's own process: what a run does, without Spark."""

from __future__ import annotations

from dataclasses import replace

from ottla.base.uuids import uuid_to_text
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.declaration.tree import Declaration, Lake
from ottla.pipelines.lake.committing import commit
from ottla.pipelines.lake.manifest import Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable, last_batch
from ottla.pipelines.running.checkpoint import BatchOffsets
from ottla.pipelines.running.cluster_options import client_settings
from ottla.pipelines.running.lake_plans import columns_of, lake_plan
from ottla.pipelines.running.tasks import LakeTask
from ottla.pipelines.verbs.local_reading import records_of
from ottla.pipelines.verbs.missing import TablePartition
from ottla.spark.records.schema import full_schema

QUERY = "5f0c1a2b"


def table_of(declared: Declaration) -> LakeTable:
    (pipeline,) = declared.pipelines.values()
    assert isinstance(pipeline.to, Lake)
    return open_table(pipeline.to, pipeline.name)


def ingest(declared: Declaration) -> Manifest:
    """Everything that is new in the topic, as one batch."""
    (pipeline,) = declared.pipelines.values()
    (topic,) = pipeline.source.topics
    table = table_of(declared)
    source = full_schema(with_headers=True)
    table.prepare(columns_of(pipeline, source))
    last = last_batch(table, table.last())  # a repair has a number of its own
    with Cluster(client_settings(declared.cluster_of(None))) as cluster:
        found = cluster.describe_topics([topic])[topic]
        topic_id = uuid_to_text(found.topic_id)
        ends = latest_offsets(cluster, found.topic_partitions, "read_committed")
        done = {} if last is None else last.ends.get(topic_id, {})
        starts = {at: done.get(str(at.partition), 0) for at in ends}
        number = 0 if last is None else last.batch + 1
        wanted = BatchOffsets(
            QUERY, number, {topic: topic_id},
            {topic_id: {str(at.partition): start for at, start in starts.items()}},
            {topic_id: {str(at.partition): end for at, end in ends.items()}},
        )  # fmt: skip
        newest_ms = None if last is None else last.newest_ms
        plan = lake_plan(pipeline, table, wanted, newest_ms, None, source)
        ranges = {TablePartition(topic_id, at.partition): [(starts[at], ends[at])] for at in ends}
        report = LakeTask(plan).run(records_of(cluster, ranges, {topic_id: topic}))
    manifest = Manifest(
        pipeline.name, QUERY, number, topics=wanted.topics, starts=wanted.starts, ends=wanted.ends,
        counts=report.counts, excluded=report.excluded, files=report.files,
    )  # fmt: skip
    newest = None if report.newest_us is None else report.newest_us // 1000
    return commit(table, replace(manifest, newest_ms=newest))
