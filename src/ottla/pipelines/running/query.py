"""One pipeline as a streaming query.

Owns      the options of its source, where it begins, and starting it.
Promises  without offsets in its checkpoint, a pipeline whose table has commits begins where the
          table ends: deleting the state of a pipeline neither loses nor repeats records.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone writes it

from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.batch_report import BatchReport
from ottla.pipelines.declaration.checking import start_ms
from ottla.pipelines.declaration.tree import EARLIEST, LATEST, Declaration, Lake, Pipeline
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.commit_plan import table_without_commits
from ottla.pipelines.lake.manifest import Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable, last_batch
from ottla.pipelines.running.batch import BatchRunner
from ottla.pipelines.running.checkpoint import PipelineState
from ottla.pipelines.running.cluster_options import client_settings, kafka_options
from ottla.pipelines.running.fence import Fence
from ottla.pipelines.running.lake_plans import columns_of
from ottla.pipelines.running.output_topics import ensure_topics
from ottla.pipelines.running.reading_tasks import TopicReader
from ottla.pipelines.running.transforms import (
    check_watermark,
    decoded_only,
    decoded_or_failed,
    has_transform,
    register_tables,
    transform,
)
from ottla.spark.records.schema import full_schema

EARLIEST_OFFSET = -2
IDLE_S = 60.0  # for the last batch of a query that was stopped


def check_kept(state: PipelineState, table: LakeTable, pipeline: str) -> None:
    """BatchRefused if the table lacks every batch that its state has. Nothing is changed."""
    if state.last_batch() >= 0 and (table.columns() is None or table.last() is None):
        raise table_without_commits(pipeline, table.directory)


class PipelineQuery:
    """A pipeline that can be started, and started again."""

    def __init__(
        self,
        spark: Any,
        declared: Declaration,
        pipeline: Pipeline,
        on_batch: Callable[[BatchReport], None],
    ) -> None:
        self.pipeline = pipeline
        self._spark = spark
        self._declared = declared
        self._state = PipelineState(declared.state, pipeline.name)
        self._cluster = declared.cluster_of(pipeline.source.cluster)
        self._table: LakeTable | None = None
        if isinstance(pipeline.to, Lake):
            self._table = open_table(pipeline.to, pipeline.name)
        self._fence = Fence(client_settings(self._cluster), pipeline.name)
        topics = None
        if self._table is not None and not has_transform(pipeline):
            topics = TopicReader(self._source_options())
        self.runner = BatchRunner(
            declared, pipeline, self._state, self._fence, self._table, on_batch, topics
        )

    def prepare(self) -> None:
        """Check table and state, fence earlier runs, and remove what failed batches left."""
        if self._table is not None:
            self._table.check_claim()
            check_kept(self._state, self._table, self.pipeline.name)
        self._state.claim(self.pipeline.source.topics)
        self._fence.take()
        ensure_topics(self._declared, self.pipeline)
        if self._table is not None:
            self._table.prepare(columns_of(self.pipeline, self.schema()))
            if self._state.has_offsets:
                self._table.sweep(self._state.query)

    def schema(self) -> Any:
        """The schema of the written rows, found by transforming an empty DataFrame."""
        value = self.pipeline.source.value
        kind = None
        if value is not None and has_transform(self.pipeline):
            from ottla.pipelines.declaration.value_schema import value_struct

            kind = value_struct(value)
        source = full_schema(with_headers=True, value_type=kind)
        if not has_transform(self.pipeline):
            return source
        register_tables(self._spark, self._declared, self.pipeline)
        empty = self._spark.createDataFrame([], source)
        decoded = decoded_only(empty)
        check_watermark(decoded, self.pipeline)
        return transform(decoded, self.pipeline).schema

    def start(self, limit: int, *, once: bool) -> Any:
        if not self.runner.wait_until_idle(IDLE_S):
            raise RuntimeError(f"the last batch of {self.pipeline.name} is still being written")
        rows = self._stream(limit)
        writer = (
            rows.writeStream.queryName(self.pipeline.name)
            .option("checkpointLocation", str(self._state.checkpoint))
            .foreachBatch(self.runner)
        )
        if once:
            writer = writer.trigger(availableNow=True)
        else:
            writer = writer.trigger(processingTime=f"{self.pipeline.every_ms} milliseconds")
        self.runner.failure = None
        return writer.start()

    def _stream(self, limit: int) -> DataFrame:
        records = self._spark.readStream.format("ottla").options(**self._options(limit)).load()
        watermark = self.pipeline.watermark
        if watermark is None:
            return records
        register_tables(self._spark, self._declared, self.pipeline)
        decoded = decoded_or_failed(records)
        check_watermark(decoded, self.pipeline)
        name = watermark.column
        if "." in name:  # Spark takes a column of its own only
            decoded = decoded.withColumn("event_time", F.col(name))
            name = "event_time"
        marked = decoded.withWatermark(name, f"{watermark.delay_ms} milliseconds")
        return transform(marked, self.pipeline)

    def _options(self, limit: int) -> dict[str, str]:
        return {
            **self._source_options(), "maxOffsetsPerTrigger": str(limit), **self._start()
        }  # fmt: skip

    def _source_options(self) -> dict[str, str]:
        source = self.pipeline.source
        options = {
            **kafka_options(self._cluster),
            "kafka.isolation.level": "read_committed",
            "kafka.group.id": source.group or self.pipeline.name,
            "subscribe": ",".join(source.topics),
            "includeHeaders": "true",
            "failOnDataLoss": "true",
        }
        if source.value is not None and has_transform(self.pipeline):
            options |= {"valueFormat": source.value.format, "valueSchema": source.value.schema}
        return options

    def _start(self) -> dict[str, str]:
        """The start of a query; ignored if it has a checkpoint."""
        last = None if self._table is None else last_batch(self._table, self._table.last())
        if not self._state.has_offsets and last is not None:
            return {"startingOffsets": json.dumps(self._continued(last))}
        start = self.pipeline.source.start
        if start in (EARLIEST, LATEST):
            return {"startingOffsets": start}
        return {
            "startingTimestamp": str(start_ms(start)),
            "startingOffsetsByTimestampStrategy": "latest",
        }

    def _continued(self, last: Manifest) -> dict[str, dict[str, int]]:
        """Where the table ends; partitions that it does not know begin with their logs."""
        from ottla.base.uuids import uuid_to_text

        with Cluster(client_settings(self._cluster)) as cluster:
            topics = cluster.describe_topics(self.pipeline.source.topics)
        offsets = {}
        for name, topic in topics.items():
            known = last.ends.get(uuid_to_text(topic.topic_id), {})
            if name in last.topics and not known:
                raise PipelineError(
                    f"{self.pipeline.name}: the topic {name} was deleted and created again since "
                    "the table was written, and its offsets mean other records: give the pipeline "
                    "a new table, and delete its state"
                )
            offsets[name] = {
                str(each.partition): known.get(str(each.partition), EARLIEST_OFFSET)
                for each in topic.partitions
            }
        return offsets
