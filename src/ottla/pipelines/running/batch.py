"""One batch of a pipeline on the driver: tasks write and report, side outputs first, the main
commit last.

Owns      the order of the steps. A batch that is repeated after a crash repeats the steps that are
          not done: the decision of the side outputs and the commit of the table both name pipeline,
          query and batch, and are made once. The table is asked before tasks run, before side
          outputs are committed, and at its own commit: what it refuses is not written anywhere.
Leaves    what tasks do to `tasks.py`, commits to `lake/committing.py` and `spark/sink/`.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812 - as everyone writes it

from ottla.base.fault_points import PipelinePoint, reach
from ottla.pipelines.batch_report import BatchReport, target_text
from ottla.pipelines.declaration.tree import Declaration, Pipeline, ToTopic
from ottla.pipelines.errors import TooManyBad
from ottla.pipelines.lake.columns import KEPT
from ottla.pipelines.lake.committing import commit, find_committed
from ottla.pipelines.lake.manifest import Counts, Manifest
from ottla.pipelines.lake.table import LakeTable, last_batch
from ottla.pipelines.running.checkpoint import BatchOffsets, PipelineState
from ottla.pipelines.running.cluster_options import kafka_options
from ottla.pipelines.running.fence import Fence
from ottla.pipelines.running.lake_plans import lake_plan
from ottla.pipelines.running.reading_tasks import TopicReader
from ottla.pipelines.running.side_records import SCHEMA
from ottla.pipelines.running.tasks import (
    REPORT_SCHEMA,
    SinkPlan,
    TaskReport,
    feed_task,
    lake_task,
    reports_of,
    side_task,
)
from ottla.pipelines.running.transforms import (
    decoded_only,
    has_transform,
    register_tables,
    transform,
)
from ottla.pipelines.sums.record_sums import decode_book, encode_book, merge_books
from ottla.spark.records.values import BAD_REASON
from ottla.spark.sink.messages import Started
from ottla.spark.sink.plan import BatchOfQuery, TaskAction, plan_task
from ottla.spark.sink.setup import set_up
from ottla.spark.sink.writers import abort_batch, commit_batch, started_as

RECORD = ("key", "value", "headers", "topic", "partition", "offset", "timestamp")
BAD_MIN = 10  # fewer bad records never stop a pipeline: in a quiet topic a batch may be one record
AHEAD_MS = 3_600_000  # an event time further ahead of the clock does not make others late
assert set(KEPT) <= set(RECORD)


@dataclass(frozen=True)
class TaskResults:
    """What the tasks of a batch wrote, before anything of it is committed."""

    reports: Sequence[TaskReport]
    counts: Counts
    side: SinkPlan | None = None
    main: SinkPlan | None = None


class BatchRunner:
    """The function that `foreachBatch` calls. `failure` is the exception, of which Spark keeps the
    text only."""

    def __init__(
        self,
        declared: Declaration,
        pipeline: Pipeline,
        state: PipelineState,
        fence: Fence,
        table: LakeTable | None,
        on_batch: Callable[[BatchReport], None],
        topics: TopicReader | None = None,
    ) -> None:
        """`topics` reads the records of a lake without a query."""
        self._declared = declared
        self._pipeline = pipeline
        self._state = state
        self._fence = fence
        self._table = table
        self._on_batch = on_batch
        self._topics = topics
        self._busy = threading.Lock()
        self.failure: BaseException | None = None
        self.batches = 0
        self.totals = Counts()

    def __call__(self, records: DataFrame, batch: int) -> None:
        with self._busy:
            try:
                self._run(records, batch)
            except BaseException as error:
                self.failure = error
                raise

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Spark gives up on a call that does not end when a query is stopped; the call
        continues."""
        is_idle = self._busy.acquire(timeout=timeout_s)
        if is_idle:
            self._busy.release()
        return is_idle

    def _run(self, records: DataFrame, batch: int) -> None:
        started_ms = time.time_ns() // 1_000_000
        wanted = self._state.range_of(batch)
        self._fence.check()
        done = self._committed_before(wanted)
        if done is None:
            done = self._write(records, wanted)
        self.batches += 1
        self.totals += done.counts
        self._on_batch(self._report(wanted, done, started_ms))

    def _committed_before(self, wanted: BatchOffsets) -> TaskResults | None:
        """The driver died after the commit, and before Spark noted it. BatchRefused if the batch
        does not continue the table."""
        if self._table is None:
            return None
        found = find_committed(self._table, self._manifest(wanted, TaskResults((), Counts())))
        return None if found is None else TaskResults((), found.counts)

    def _write(self, records: DataFrame, wanted: BatchOffsets) -> TaskResults:
        done = self._to_lake(records, wanted) if self._table else self._to_topic(records, wanted)
        try:
            reach(PipelinePoint.STAGED)
            self._check_bad(done.counts, wanted)
            self._fence.check()
            self._committed_before(wanted)  # side outputs of a batch that is refused stay out
            self._commit_sink(done.side, [each.side for each in done.reports], wanted)
            reach(PipelinePoint.SIDE_COMMITTED)
            self._fence.check()
        except BaseException:
            self._abort(done)
            raise
        if self._table is not None:
            commit(self._table, self._manifest(wanted, done))
            if not self.batches:  # what another driver staged for this batch is never committed now
                self._table.sweep(wanted.query)
        self._commit_sink(done.main, [each.main for each in done.reports], wanted)
        return done

    # Writing

    def _to_lake(self, records: DataFrame, wanted: BatchOffsets) -> TaskResults:
        assert self._table is not None
        pipeline = self._pipeline
        side = self._side_plan(wanted)
        batch_manifest = last_batch(self._table, self._table.last())
        rows, observed = self._rows(records)
        newest_ms = None if batch_manifest is None else batch_manifest.newest_ms
        plan = lake_plan(pipeline, self._table, wanted, newest_ms, side, rows.schema)
        if not has_transform(pipeline):
            assert self._topics is not None
            bounds = self._state.offsets_of(wanted.batch)
            reports = self._topics.write(records.sparkSession, *bounds, plan)
            return TaskResults(reports, total(reports), side)
        reports = self._collect(rows, partial(lake_task, plan))
        assert observed is not None, "only a lake without a query has none"
        return self._with_bad(records, reports, total(reports), observed, side, wanted)

    def _to_topic(self, records: DataFrame, wanted: BatchOffsets) -> TaskResults:
        to = self._pipeline.to
        assert isinstance(to, ToTopic)
        side = self._side_plan(wanted)
        rows, observed = self._rows(records)
        cluster = self._declared.cluster_of(to.cluster or self._pipeline.source.cluster)
        options = {**kafka_options(cluster), "topic": to.topic}
        main = self._sink_plan("main", rows.schema, options, wanted)
        reports = self._collect(rows, partial(feed_task, main))
        counts = total(reports)
        if main.rows_decided is not None:  # its tasks have written nothing
            counts = replace(counts, written=main.rows_decided)
        if observed is None:  # windows: their rows are not the records
            return TaskResults(reports, replace(counts, read=size_of(wanted)), side, main)
        done = self._with_bad(records, reports, counts, observed, side, wanted)
        return replace(done, main=main)

    def _rows(self, records: DataFrame) -> tuple[DataFrame, Observation | None]:
        """The rows to write, and what is counted on the way: records, and those that are bad."""
        if self._pipeline.watermark is not None or not has_transform(self._pipeline):
            return records, None
        register_tables(records.sparkSession, self._declared, self._pipeline)
        observed = Observation()
        watched = records.observe(observed, *counted_columns(records))
        return transform(decoded_only(watched), self._pipeline), observed

    def _collect(self, rows: DataFrame, task: Callable[..., Any]) -> list[TaskReport]:
        return reports_of(rows.mapInArrow(task, REPORT_SCHEMA).collect())

    def _with_bad(
        self,
        records: DataFrame,
        reports: list[TaskReport],
        counts: Counts,
        observed: Observation,
        side: SinkPlan | None,
        wanted: BatchOffsets,
    ) -> TaskResults:
        """Bad records are written in a second pass over the batch, if there are any: sql has seen
        only the others. `counts` has rows that are bad only after it, by their event time."""
        seen = counted(records, observed)
        read, bad = seen["read"], seen["bad"]
        if bad and self._pipeline.bad is None:
            found = records.where(F.col(BAD_REASON).isNotNull()).first()
            raise TooManyBad(
                f"{self._pipeline.name}: topic {found.topic}, partition {found.partition}, offset "
                f"{found.offset} cannot be decoded: {found.badReason}. Declare `bad: {{topic: "
                "...}` to write such records to a topic of their own"
            )
        if bad and side is not None and self._pipeline.bad is not None:
            rows = records.where(F.col(BAD_REASON).isNotNull())
            chosen = rows.select(
                *(name for name in RECORD if name != "value"), "badReason", "badValue",
                F.lit(None).cast("binary").alias("value"),
            )  # fmt: skip
            to = (self._pipeline.name, self._pipeline.bad.topic, wanted.topics)
            reports = [*reports, *self._collect(chosen, partial(side_task, side, *to))]
        return TaskResults(reports, with_records(counts, read, bad), side)

    # Sinks

    def _side_plan(self, wanted: BatchOffsets) -> SinkPlan | None:
        if self._pipeline.bad is None and self._pipeline.late is None:
            return None
        options = kafka_options(self._declared.cluster_of(self._pipeline.source.cluster))
        return self._sink_plan("side", SCHEMA, options, wanted)

    def _sink_plan(
        self, kind: str, schema: Any, options: dict[str, str], wanted: BatchOffsets
    ) -> SinkPlan:
        setup = set_up(schema, options)
        started = started_as(setup, f"pipeline-{self._pipeline.name}-{kind}")
        query = BatchOfQuery(f"{wanted.query}-{kind}", wanted.batch)
        return SinkPlan(setup, started and started.for_tasks(), query, rows_decided(started, query))

    def _commit_sink(
        self, sink: SinkPlan | None, messages: Iterable[Any], wanted: BatchOffsets
    ) -> None:
        if sink is not None:
            commit_batch(sink.setup, list(messages), wanted.digest)

    def _abort(self, done: TaskResults) -> None:
        """Remove the files of these tasks, while no other attempt can use them."""
        if self._table is not None:
            for file in (file for each in done.reports for file in each.files):
                lake = Path(self._table.directory)
                (lake / (file.staged or file.path)).unlink(missing_ok=True)
        for sink, messages in (
            (done.side, [each.side for each in done.reports]),
            (done.main, [each.main for each in done.reports]),
        ):
            if sink is not None:
                abort_batch(sink.setup, messages, sink.started)

    # Results

    def _check_bad(self, counts: Counts, wanted: BatchOffsets) -> None:
        bad = self._pipeline.bad
        if bad is None or counts.bad < BAD_MIN or counts.bad <= bad.stop_above * counts.read:
            return
        raise TooManyBad(
            f"{self._pipeline.name}: {counts.bad} of {counts.read} records of batch {wanted.batch} "
            f"are bad, more than stop_above={bad.stop_above:.4g}: nothing of it is written. Look "
            "at the values (is the schema right?), or raise stop_above"
        )

    def _manifest(self, wanted: BatchOffsets, done: TaskResults) -> Manifest:
        return Manifest(
            self._pipeline.name,
            wanted.query,
            wanted.batch,
            topics=wanted.topics,
            starts=wanted.starts,
            ends=wanted.ends,
            counts=done.counts,
            newest_ms=newest_ms(done.reports, time.time_ns() // 1_000_000),
            excluded=excluded_of(done.reports),
            files=tuple(file for each in done.reports for file in each.files),
        )

    def _report(self, wanted: BatchOffsets, done: TaskResults, started_ms: int) -> BatchReport:
        unknown: Counter[str] = Counter()
        for each in done.reports:
            unknown.update(each.unknown_fields)
        return BatchReport(
            self._pipeline.name,
            query=wanted.query,
            batch=wanted.batch,
            started_ms=started_ms,
            finished_ms=time.time_ns() // 1_000_000,
            topics=wanted.topics,
            starts=wanted.starts,
            ends=wanted.ends,
            counts=done.counts,
            totals=self.totals,
            newest_ms=newest_ms(done.reports, time.time_ns() // 1_000_000),
            every_ms=self._pipeline.every_ms,
            to=target_text(self._pipeline),
            unknown_fields=dict(unknown),
        )


def select_record(rows: DataFrame) -> DataFrame:
    """The columns of a record for a task, with empty headers instead of none. Spark measures the
    Arrow batch that it fills after every row, and for lists that are null it goes through all rows
    before: a batch would take quadratic time. Tasks restore the nulls."""
    empty = F.array().cast(rows.schema["headers"].dataType)
    headers = F.coalesce("headers", empty).alias("headers")
    return rows.select(*(headers if name == "headers" else name for name in RECORD))


def counted_columns(records: DataFrame) -> list[Column]:
    is_bad = F.col(BAD_REASON).isNotNull() if BAD_REASON in records.columns else F.lit(False)
    return [F.count(F.lit(1)).alias("read"), F.count_if(is_bad).alias("bad")]


def counted(records: DataFrame, observed: Observation) -> dict[str, int]:
    """The counts that were made while the rows were computed. Spark does not read the records if it
    can infer that they produce no row, as in a join with an empty table: then they are counted
    here."""
    with contextlib.suppress(Py4JJavaError):  # a row without columns is no row for PySpark
        return dict(observed.get)
    (row,) = records.agg(*counted_columns(records)).collect()
    return dict(row.asDict())


def newest_ms(reports: Iterable[TaskReport], now_ms: int) -> int | None:
    """The newest event time. One wrong clock must not make all later records late."""
    times = [each.newest_us // 1000 for each in reports if each.newest_us is not None]
    return min(max(times), now_ms + AHEAD_MS) if times else None


def total(reports: Iterable[TaskReport]) -> Counts:
    return sum((each.counts for each in reports), Counts())


def with_records(rows: Counts, read: int, bad: int) -> Counts:
    """The counts of a batch whose records a query has read: `rows` are those of its rows, `read`
    and `bad` records. What is in none of the outputs was filtered."""
    bad += rows.bad
    filtered = max(0, read - rows.written - rows.late - bad)
    return Counts(read, rows.written, filtered, bad, rows.late)


def rows_decided(started: Started | None, wanted: BatchOfQuery) -> int | None:
    """How many rows an earlier attempt of the batch has written, if it was decided: tasks write
    none then. None if they have to."""
    if started is None or plan_task(started.state, wanted) is TaskAction.WRITE:
        return None
    decision = started.state.decision
    assert decision is not None, "a batch is skipped because of its decision"
    return sum(each.records for one in decision.transactions for each in one.written)


def excluded_of(reports: Iterable[TaskReport]) -> list[dict[str, Any]]:
    return encode_book(merge_books(decode_book(each.excluded) for each in reports))


def size_of(wanted: BatchOffsets) -> int:
    """Offsets of the batch; markers and compacted records are among them."""
    return sum(
        end - wanted.starts[topic_id][partition]
        for topic_id, ends in wanted.ends.items()
        for partition, end in ends.items()
    )
