"""Workarounds for Spark's process model. All of them are in this module.

Spark runs a data source in several Python processes, with little information about them:

planning      `load()`, `DataSource.reader` and `DataSource.writer` run in short-lived processes of
the driver, each started with `python -m <module of pyspark.sql.worker>`. Their results are pickled.
Only the name of that module shows what is being planned.
stream        A streaming query has one process on the driver that lives as long as the query. It
creates a new stream writer for every micro-batch, so state that must outlive a batch is stored in a
global variable of the process.
tasks         Executors unpickle the reader or writer, and reuse their processes for many tasks.
"""

from __future__ import annotations

import gc
import sys
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

# Spark runs these modules of its own in a process each.
FILTER_PLANNER = "pyspark.sql.worker.data_source_pushdown_filters"
WRITE_PLANNER = "pyspark.sql.worker.write_into_data_source"

# Spark's names for the local properties of a streaming query's tasks.
QUERY_ID, BATCH_ID = "sql.streaming.queryId", "streaming.sql.batchId"
JOB_GROUP = "spark.jobGroup.id"  # of a streaming query: the id of its run


def is_planning_filters() -> bool:
    """Whether Spark is about to call `pushFilters`. It does so in a process of its own, if
    `spark.sql.python.filterPushdown.enabled` is on and the query has filters, and refuses a reader
    with that method everywhere else."""
    return _runs(FILTER_PLANNER)


def is_planning_write() -> bool:
    """Whether this process plans a write. A stream writer is created twice for each micro-batch,
    once for the tasks and once for the commit; only the first may fence earlier drivers."""
    return _runs(WRITE_PLANNER) or WRITE_PLANNER in sys.argv


def _runs(module: str) -> bool:
    """`python -m module` names it in the spec of `__main__`; Spark's daemon imports it."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return module in sys.modules or getattr(spec, "name", None) == module


class RefusedStreamReader(
    DataSourceStreamReader,  # type: ignore[misc]
    SupportsTriggerAvailableNow,  # type: ignore[misc]
):
    """Raises the error of a query's options in the first call. If `DataSource.streamReader` raised
    it, Spark 4.3 would show a failure of its own runner instead ("cannot access local variable
    'reader'")."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        raise self.error.with_traceback(None)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        raise self.error.with_traceback(None)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        raise self.error.with_traceback(None)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: ARG002, N802
        raise self.error.with_traceback(None)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:  # noqa: ARG002
        raise self.error.with_traceback(None)

    def read(self, partition: InputPartition) -> Iterator[Any]:  # noqa: ARG002
        raise self.error.with_traceback(None)


class PickledAsQuery:
    """For readers of streams: tasks get a copy that holds the query and nothing else. The
    driver's reader has open connections, which cannot be pickled and which no task needs."""

    query: Any

    def __getstate__(self) -> dict[str, Any]:
        return {"query": self.query}

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).__init__(self, state["query"])  # type: ignore[call-arg]


class StartedWhenPickled:
    """For writers of streams: pickling is the last moment before the tasks, and the only sign that
    this writer, not the one that commits, is the one for the tasks."""

    def start(self) -> None:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        self.start()
        return self.__dict__


class TaskOfQuery(NamedTuple):
    """The micro-batch that a task belongs to."""

    query_id: str
    batch_id: int


def task_of_query() -> TaskOfQuery | None:
    """None outside a task of a streaming query. Spark passes neither to the writer itself."""
    context = TaskContext.get()
    query = context and context.getLocalProperty(QUERY_ID)
    batch = context and context.getLocalProperty(BATCH_ID)
    return None if query is None or batch is None else TaskOfQuery(query, int(batch))


class QueryRun(NamedTuple):
    """A streaming query, and its run: each start of the query is another one."""

    query_id: str
    run_id: str


def run_of_task() -> QueryRun | None:
    """None outside a task of a streaming query. Tasks of `foreachBatch` are inside."""
    context = TaskContext.get()
    query = context and context.getLocalProperty(QUERY_ID)
    if context is None or query is None:
        return None
    group = context.getLocalProperty(JOB_GROUP)
    return QueryRun(query, group if _is_uuid(group) else "")


def _is_uuid(text: str | None) -> bool:
    """A program may set a job group of its own, which can be the same in every run."""
    try:
        uuid.UUID(text)
    except (ValueError, TypeError, AttributeError):
        return False
    return True


# Objects that must outlive the writer of one micro-batch, by a key of their owner's.
process_globals: dict[tuple[str, ...], Any] = {}

_is_frozen = False


def freeze_imported_modules() -> None:
    """Spark's Python worker runs the garbage collector after every task. It visits every object of
    every imported module, hundreds of thousands, for 20 ms and more: longer than a small task.
    Modules stay for as long as the worker, so they are excluded, once. Only in tasks: the garbage
    collector of other processes is not ours to configure."""
    global _is_frozen
    if _is_frozen or TaskContext.get() is None:
        return
    _is_frozen = True
    gc.collect()  # garbage must not be frozen
    gc.freeze()
