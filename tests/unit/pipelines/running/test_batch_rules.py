"""What a batch counts, which event time others are compared with, and waiting for it."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, cast

from ottla.client.admin.transactions import ProducerIdentity
from ottla.pipelines.declaration.loading import declare
from ottla.pipelines.lake.manifest import Counts
from ottla.pipelines.running.batch import (
    AHEAD_MS,
    BatchRunner,
    newest_ms,
    rows_decided,
    with_records,
)
from ottla.pipelines.running.tasks import TaskReport
from ottla.spark.sink.decisions import CommitDecision, SinkState, TaskTransaction, Written
from ottla.spark.sink.messages import Started
from ottla.spark.sink.plan import BatchOfQuery

NOW_MS = 1_772_370_000_000


def at(*times_ms: int | None) -> list[TaskReport]:
    return [
        TaskReport(Counts(), newest_us=None if each is None else each * 1000) for each in times_ms
    ]


def test_the_newest_event_time_of_all_tasks_counts() -> None:
    assert newest_ms(at(None, NOW_MS - 5, NOW_MS - 9), NOW_MS) == NOW_MS - 5
    assert newest_ms(at(None), NOW_MS) is None


def test_one_wrong_clock_does_not_make_all_later_records_late() -> None:
    assert newest_ms(at(NOW_MS, NOW_MS + 10**12), NOW_MS) == NOW_MS + AHEAD_MS


def test_records_that_are_in_no_output_of_a_query_were_filtered() -> None:
    """Rows may be bad, too: by their event time, which only the query has computed."""
    rows = Counts(written=50, bad=3, late=7)
    assert with_records(rows, read=100, bad=10) == Counts(100, 50, 30, 13, 7)
    assert with_records(Counts(written=12), read=10, bad=1) == Counts(10, 12, 0, 1, 0)


def test_rows_that_an_earlier_attempt_has_decided_are_counted() -> None:
    """The tasks of the repeated batch write none."""
    transactions = tuple(
        TaskTransaction(f"sink/{each}", each, 0, (Written("big", 0, 0, 9, 10),)) for each in (0, 1)
    )
    state = SinkState(CommitDecision("sink", "q", 4, transactions))
    started = Started("sink", ProducerIdentity(1, 0), state)
    assert rows_decided(started, BatchOfQuery("q", 4)) == 20
    assert rows_decided(started, BatchOfQuery("q", 5)) is None
    assert rows_decided(started, BatchOfQuery("another", 4)) is None
    assert rows_decided(None, BatchOfQuery("q", 4)) is None


def test_a_batch_that_outlives_the_stop_of_its_query_is_waited_for() -> None:
    """Spark gives up on the call after a while, and a new query must not begin beside it."""
    declared = declare(
        clusters={"main": "localhost:9092"},
        pipelines={"p": {"from": {"topics": ["orders"]}, "to": {"lake": "/tmp/none"}}},
    )
    entered, leave = threading.Event(), threading.Event()

    class Stuck:
        def range_of(self, _batch: int) -> None:
            entered.set()
            leave.wait()
            raise InterruptedError

    anything = cast(Any, None)
    stuck = cast(Any, Stuck())
    runner = BatchRunner(declared, declared.pipelines["p"], stuck, anything, None, print)

    def call() -> None:
        with contextlib.suppress(InterruptedError):
            runner(anything, 0)

    thread = threading.Thread(target=call)
    thread.start()
    entered.wait()
    assert not runner.wait_until_idle(0.01)
    leave.set()
    thread.join()
    assert runner.wait_until_idle(0.01)
