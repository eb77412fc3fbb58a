"""What Spark calls: one writer for batches, one for streams.

Owns      which part of a write happens in which of Spark's processes.
Promises  a batch is written completely or not at all; a micro-batch of a stream exactly once, or
          with `delivery=at-least-once` at least once.
Leaves    everything else to `driver.py` and `task_writer.py`.

A batch writer is created once, pickled to the tasks, and pickled again to the process that commits.
A stream writer is created twice for each micro-batch: once for the tasks, and once in the process
that commits, where the messages of the tasks have what the first one knew. Only the first may fence
earlier drivers, so it does that when it is pickled, at the latest.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ClientError
from ottla.spark.brief_errors import brief
from ottla.spark.process_model import (
    StartedWhenPickled,
    freeze_imported_modules,
    is_planning_write,
    run_of_task,
    task_of_query,
)
from ottla.spark.sink.broker_errors import explained
from ottla.spark.sink.checkpoint import offsets_digest
from ottla.spark.sink.decisions import UNKNOWN, Origin, TaskTransaction
from ottla.spark.sink.driver import SinkDriver
from ottla.spark.sink.errors import SinkError
from ottla.spark.sink.messages import Started, TaskWritten
from ottla.spark.sink.names import batch_sink_name, stream_sink_name, txn_name
from ottla.spark.sink.plan import BatchOfQuery, TaskAction, plan_task
from ottla.spark.sink.setup import SinkSetup
from ottla.spark.sink.task_writer import TaskAttempt, TaskWriter

log = logging.getLogger("ottla.spark.sink")


def started_as(setup: SinkSetup, sink: str) -> Started | None:
    """Fence earlier drivers and end their transactions; None with at-least-once."""
    if not setup.options.is_exactly_once:
        return None
    try:
        with Cluster(setup.settings) as cluster:
            return SinkDriver(cluster, setup, sink).start()
    except ClientError as error:
        raise explained(error) from error


def write_task(
    setup: SinkSetup,
    started: Started | None,
    wanted: BatchOfQuery,
    batches: Iterable[pa.RecordBatch],
) -> TaskWritten:
    if started is not None and plan_task(started.state, wanted) is TaskAction.SKIP:
        return TaskWritten(wanted, 0, started)
    freeze_imported_modules()
    context = TaskContext.get()
    assert context is not None, "tasks have a context"
    attempt = TaskAttempt(context.partitionId(), context.attemptNumber())
    writer = TaskWriter(setup, started, attempt)
    transaction = writer.write(batches)
    return TaskWritten(wanted, writer.rows, started, transaction)


def commit_batch(
    setup: SinkSetup, messages: Sequence[WriterCommitMessage | None], offsets: str = ""
) -> None:
    """Write the decision, and commit what the tasks wrote. `offsets` is the digest of the batch's
    offsets, which tasks do not know."""
    task_results = _results_of(messages)
    if not task_results or task_results[0].started is None:
        return
    started, wanted = task_results[0].started, task_results[0].wanted
    wanted = replace(wanted, origin=wanted.origin._replace(offsets=offsets))
    try:
        with Cluster(setup.settings) as cluster:
            driver = SinkDriver(cluster, setup, started.sink)
            driver.commit(started, wanted, _transactions(task_results))
    except ClientError as error:
        raise explained(error) from error


def abort_batch(
    setup: SinkSetup,
    messages: Sequence[WriterCommitMessage | None],
    started: Started | None = None,
) -> None:
    """Never raises: Spark must show the error that caused the abort. The next start aborts what is
    left open. Tasks that failed have no message."""
    task_results = _results_of(messages)
    started = task_results[0].started if task_results else started
    if started is None:
        return
    try:
        with Cluster(setup.settings) as cluster:
            SinkDriver(cluster, setup, started.sink).abort(started, _transactions(task_results))
    except (ClientError, SinkError) as error:
        log.warning("transactions stay open until the next start: %s", error)


def _results_of(messages: Sequence[WriterCommitMessage | None]) -> list[TaskWritten]:
    return [each for each in messages if isinstance(each, TaskWritten)]


def _transactions(task_results: Sequence[TaskWritten]) -> list[TaskTransaction]:
    return [each.transaction for each in task_results if each.transaction is not None]


@dataclass
class BatchWriter(DataSourceArrowWriter):  # type: ignore[misc]
    setup: SinkSetup
    wanted: BatchOfQuery
    started: Started | None

    @brief
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        wanted = replace(self.wanted, origin=origin_of_task())
        return write_task(self.setup, self.started, wanted, iterator)

    @brief
    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        commit_batch(self.setup, messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        abort_batch(self.setup, messages, self.started)


@dataclass
class StreamWriter(DataSourceStreamArrowWriter, StartedWhenPickled):  # type: ignore[misc]
    setup: SinkSetup
    started: Started | None = field(default=None)
    is_started: bool = False

    def start(self) -> None:
        if not self.is_started:
            sink = stream_sink_name(self.setup.options) if self._decides else ""
            started = started_as(self.setup, sink)
            self.started = started and started.for_tasks()
            self.is_started = True

    @property
    def _decides(self) -> bool:
        return self.setup.options.is_exactly_once

    @brief
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return write_task(self.setup, self.started, batch_of_task(), iterator)

    @brief
    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        offsets = offsets_digest(self.setup.options.checkpoint_location, batchId)
        commit_batch(self.setup, messages, offsets)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        abort_batch(self.setup, messages)


def batch_of_task() -> BatchOfQuery:
    task = task_of_query()
    if task is None:
        raise SinkError("This task does not know its query and batch: use writeStream.")
    return BatchOfQuery(task.query_id, task.batch_id)


def origin_of_task() -> Origin:
    """The streaming query whose foreachBatch this task writes for, if there is one."""
    run = run_of_task()
    return UNKNOWN if run is None else Origin(run.query_id, run.run_id)


def batch_of_write(setup: SinkSetup) -> BatchOfQuery:
    options = setup.options
    if options.txn_app_id is not None and options.txn_version is not None:
        return BatchOfQuery(txn_name(options), options.txn_version, skips_older=True)
    return BatchOfQuery(f"write-{uuid.uuid4()}", 0)


def new_batch_writer(setup: SinkSetup) -> BatchWriter:
    started = started_as(setup, batch_sink_name(setup.options))
    wanted = batch_of_write(setup)
    if started is not None and wanted.skips_older:
        warn_of_skip(setup, started, wanted)
    return BatchWriter(setup, wanted, started and started.for_tasks())


def warn_of_skip(setup: SinkSetup, started: Started, wanted: BatchOfQuery) -> None:
    """A repeated batch is skipped, as it should be. A program that gives the same version to other
    rows writes nothing, and sees no error."""
    if plan_task(started.state, wanted) is TaskAction.SKIP:
        log.warning(
            "these rows are not written: the write of txnAppId %s has txnVersion %d, and a version "
            "that is not lower was written before", setup.options.txn_app_id, wanted.batch,
        )  # fmt: skip


def new_stream_writer(setup: SinkSetup) -> StreamWriter:
    writer = StreamWriter(setup)
    if setup.options.is_exactly_once:
        stream_sink_name(setup.options)  # an error is raised here, where Spark shows its message
    if is_planning_write():
        writer.start()
    return writer
