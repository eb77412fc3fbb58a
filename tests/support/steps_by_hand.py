"""Steps that a test runs one by one, to do something in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ottla.base.steps import Job, Steps, run_here

T = TypeVar("T")


def job_of(step: int | Job) -> Job:
    """A step that must be a job."""
    assert not isinstance(step, int), "a pause instead of a job"
    return step


class ByHand(Generic[T]):
    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self._result: Any = None  # of the last job
        self.jobs = self.pauses = 0

    def next(self) -> int | Job:
        """The next step, which is not run."""
        result, self._result = self._result, None
        step = self._steps.send(result)
        if isinstance(step, int):
            self.pauses += 1
        else:
            self.jobs += 1
        return step

    def run_job(self) -> None:
        """The next step, which must be a job."""
        self._result = job_of(self.next())()

    def run_step(self) -> None:
        """The next step, whatever it is."""
        step = self.next()
        self._result = None if isinstance(step, int) else step()

    def finish(self) -> T:
        """All that is left."""
        return run_here(self._rest())

    def _rest(self) -> Steps[T]:
        while True:
            try:
                step = self.next()
            except StopIteration as end:
                value: T = end.value
                return value
            self._result = yield step


def run_with(steps: Steps[T], run_job: Callable[[Job], Any]) -> T:
    """As `run_here`, with jobs run in the test's own way."""
    result: Any = None
    while True:
        try:
            step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        result = None if isinstance(step, int) else run_job(step)
