"""All pipelines of a file, in one Spark session: started, watched, restarted, stopped.

Owns      the loop. One pipeline that ends does not end the others.
Promises  a pipeline that failed is started again after a pause, as `restarts.py` decides; its state
          is in the report topic. Queries are restarted to change their limit (`limits.py`), between
          two batches.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ClientError
from ottla.pipelines.batch_report import FAILED, RUNNING, STOPPED, BatchReport, target_text
from ottla.pipelines.declaration.tree import Declaration, Pipeline
from ottla.pipelines.errors import LakeUnavailable, PipelineError, reason_of
from ottla.pipelines.lake.manifest import Counts
from ottla.pipelines.running.cluster_options import client_settings
from ottla.pipelines.running.limits import decide_limit
from ottla.pipelines.running.query import IDLE_S, PipelineQuery
from ottla.pipelines.running.restarts import decide_restart
from ottla.pipelines.status.report_topic import make_ready, read_reports, write_report
from ottla.spark.data_loss import CONTINUE

log = logging.getLogger("ottla.pipelines")

LOOK_S = 0.2
# The source advises options that a pipeline does not have.
BEGIN_AGAIN = (
    "To begin again, delete the state of the pipeline; a lake needs a new table as well, because "
    "its table says where it continues."
)
_IN_TASK = re.compile(r"ottla\.pipelines\.errors\.(\w+): (.+)")
_IN_SOURCE = re.compile(r"ottla\.(?:spark|config|client)\.\w+(?:\.\w+)*: (.+)")


@dataclass
class Running:
    """A pipeline and its query."""

    pipeline: Pipeline
    query: PipelineQuery | None = None
    active: Any = None
    limit: int = 0
    wanted_limit: int = 0
    failures: int = 0
    batches_before: int = 0
    restart_s: float | None = None  # when to start again
    is_over: bool = False
    failure: str | None = None
    last: BatchReport | None = None
    reports: int = field(default=0)
    dropped: int = 0  # rows that Spark left out of windows, because they came too late
    dropped_until: int = -1  # the last batch of which that is known


class PipelineService:
    def __init__(
        self,
        spark: Any,
        declared: Declaration,
        names: Sequence[str],
        *,
        once: bool,
        on_report: Callable[[BatchReport], None],
    ) -> None:
        self._spark = spark
        self._declared = declared
        self._once = once
        self._on_report = on_report
        self.running = {name: Running(declared.pipelines[name]) for name in names}
        self._stopping = threading.Event()

    def run(self) -> bool:
        """Run until every pipeline has ended, or `stop` is called; returns whether none failed."""
        for each in self.running.values():
            each.limit = each.wanted_limit = each.pipeline.batch_records
            each.restart_s = 0.0
        while not self._stopping.is_set() and not all(e.is_over for e in self.running.values()):
            for each in self.running.values():
                self._look_at(each)
            self._stopping.wait(LOOK_S)
        self._stop_all()
        return all(each.failure is None for each in self.running.values())

    def stop(self) -> None:
        self._stopping.set()

    def _look_at(self, each: Running) -> None:
        if each.is_over:
            return
        self._note_dropped(each)
        if each.active is None:
            if each.restart_s is not None and time.monotonic() >= each.restart_s:
                self._start(each)
        elif not each.active.isActive:
            self._after_end(each)
        elif each.wanted_limit != each.limit and not each.active.status["isTriggerActive"]:
            try:
                each.active.stop()
            except Exception as error:  # Spark gave up waiting: it is tried again
                log.warning("%s does not stop yet: %s", each.pipeline.name, error)
                return
            each.limit, each.active, each.restart_s = each.wanted_limit, None, 0.0

    def _start(self, each: Running) -> None:
        try:
            if each.query is None:
                self._make_ready(each.pipeline)
                each.query = PipelineQuery(
                    self._spark.newSession(), self._declared, each.pipeline,
                    lambda report: self._note(each, report),
                )  # fmt: skip
                each.query.prepare()
            each.active = each.query.start(each.limit, once=self._once)
            log.info("%s has started: %s", each.pipeline.name, target_text(each.pipeline))
            if each.failures:
                self._write_state(each, RUNNING, None)
        except Exception as error:
            if each.active is None and each.query is not None and not each.query.runner.batches:
                each.query = None  # prepared again next time
            self._after_failure(each, error)

    def _make_ready(self, pipeline: Pipeline) -> None:
        with self._cluster_of(pipeline) as cluster:
            make_ready(cluster)
            last = read_reports(cluster).get(pipeline.name)
        if last is not None and last.to != target_text(pipeline):
            log.warning(
                "%s: a pipeline of this name wrote to the %s before. If it is another one, give "
                "one of them a new name: a run of one ends a run of the other",
                pipeline.name, last.to,
            )  # fmt: skip

    def _after_end(self, each: Running) -> None:
        assert each.query is not None
        error = each.active.exception()
        each.active = None
        if error is None:
            each.is_over = True
            self._write_state(each, STOPPED, None)
            return
        self._after_failure(each, each.query.runner.failure or error)

    def _after_failure(self, each: Running, error: BaseException) -> None:
        failure = explained(error)
        batches = 0 if each.query is None else each.query.runner.batches
        decided = decide_restart(
            failure, each.failures, each.pipeline.failures_max,
            had_progress=batches > each.batches_before,
        )  # fmt: skip
        each.failures, each.batches_before = decided.failures, batches
        log.error("%s failed: %s", each.pipeline.name, failure)
        self._write_state(each, FAILED, str(failure))
        if decided.pause_ms is None:
            each.is_over, each.failure = True, str(failure)
        else:
            each.restart_s = time.monotonic() + decided.pause_ms / 1000

    # Reports

    def _note_dropped(self, each: Running) -> None:
        """Rows behind the watermark of a window: Spark counts them, after their batch."""
        if each.active is None or each.pipeline.watermark is None:
            return
        late = 0
        for progress in each.active.recentProgress:
            count = sum(one.numRowsDroppedByWatermark for one in progress.stateOperators)
            # Reports of an idle query have the number of the next batch, and count nothing.
            if count and progress.batchId > each.dropped_until:
                each.dropped_until = progress.batchId
                late += count
        if not late:
            return
        each.dropped += late
        log.warning(
            "%s: %d rows came after their windows were closed, and are in none: a longer delay of "
            "watermark waits for them", each.pipeline.name, late,
        )  # fmt: skip
        if each.last is not None:
            totals = each.last.totals + Counts(late=late)
            each.last = replace(each.last, totals=totals)
            self._write(each, each.last)

    def _note(self, each: Running, report: BatchReport) -> None:
        totals = report.totals + Counts(late=each.dropped)
        each.last = report = replace(report, limit=each.limit, totals=totals)
        each.reports += 1
        took_ms = report.finished_ms - report.started_ms
        if not self._once:
            each.wanted_limit = decide_limit(
                each.limit, report.counts.read, took_ms, each.pipeline.every_ms
            )
        self._write(each, report)
        self._on_report(report)

    def _write_state(self, each: Running, state: str, failure: str | None) -> None:
        report = each.last or BatchReport(
            each.pipeline.name, every_ms=each.pipeline.every_ms, to=target_text(each.pipeline)
        )
        self._write(each, replace(report, state=state, failure=failure))

    def _write(self, each: Running, report: BatchReport) -> None:
        """The batch is committed: a report that cannot be written must not fail it."""
        try:
            with self._cluster_of(each.pipeline) as cluster:
                write_report(cluster, report)
        except (ClientError, OSError) as error:
            log.warning("the report of %s was not written: %s", each.pipeline.name, error)

    def _cluster_of(self, pipeline: Pipeline) -> Cluster:
        return Cluster(client_settings(self._declared.cluster_of(pipeline.source.cluster)))

    def _stop_query(self, each: Running) -> None:
        """A batch that is being committed is waited for: the session is closed next."""
        try:
            each.active.stop()
        except Exception as error:
            log.warning("%s does not stop: %s", each.pipeline.name, error)
        if each.query is not None and not each.query.runner.wait_until_idle(IDLE_S):
            log.warning(
                "%s is still writing a batch, and is left: the next run finds what was committed",
                each.pipeline.name,
            )

    def _stop_all(self) -> None:
        for each in self.running.values():
            if each.active is not None:
                self._stop_query(each)
                self._note_dropped(each)
                each.active = None
                self._write_state(each, STOPPED, None)


def explained(error: BaseException) -> BaseException:
    """The failure itself, where Spark has turned it into the text of an exception of its own."""
    if isinstance(error, PipelineError):
        return error
    if found := _IN_TASK.search(str(error)):
        may_pass = found[1] == LakeUnavailable.__name__
        return (LakeUnavailable if may_pass else PipelineError)(found[2].strip())
    if found := _IN_SOURCE.search(str(error)):
        what, advice, _ = found[1].strip().partition(f" {CONTINUE}")
        return RuntimeError(f"{what} {BEGIN_AGAIN}" if advice else what)
    return RuntimeError(reason_of(error)) if isinstance(error, OSError) else error
