"""When bad records stop a pipeline, and which event time others are compared with."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, cast

from ottla.pipelines.declaration.loading import declare
from ottla.pipelines.lake.manifest import Counts
from ottla.pipelines.running.batch import AHEAD_MS, BatchRunner, newest_ms
from ottla.pipelines.running.tasks import TaskReport

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
