"""When bad records stop a pipeline, and which event time others are compared with."""

from __future__ import annotations

from ottla.pipelines.lake.manifest import Counts
from ottla.pipelines.running.batch import AHEAD_MS, newest_ms
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
