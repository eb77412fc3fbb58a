"""Steps that a test runs one by one, to do something in between."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from ottla.base.scheduling.steps import Job, Steps, run_blocking

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
        return run_blocking(self._rest())

    def _rest(self) -> Steps[T]:
        while True:
            try:
                step = self.next()
            except StopIteration as end:
                value: T = end.value
                return value
            self._result = yield step


def run_with(steps: Steps[T], run_job: Callable[[Job], Any]) -> T:
    """As `run_blocking`, with jobs run in the test's own way."""
    result: Any = None
    while True:
        try:
            step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        result = None if isinstance(step, int) else run_job(step)


class Here:
    """A driver that runs everything at once, jobs included."""

    async def run(self, steps: Steps[T]) -> T:
        return run_blocking(steps)

    def start(self, steps: Steps[None]) -> None:
        run_blocking(steps)

    async def in_thread(self, job: Callable[[], T]) -> T:
        return job()

    async def next(self) -> None:
        pass


class JobsLater:
    """Starts steps at once; their jobs wait for a thread, until the test runs them."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Steps[None], Job]] = []

    def __call__(self, steps: Steps[None]) -> None:
        self._go_on(steps, steps.__next__)

    def run_one(self, at: int = 0) -> None:
        steps, job = self.waiting.pop(at)
        try:
            result = job()
        except Exception as error:
            self._go_on(steps, partial(steps.throw, error))
        else:
            self._go_on(steps, partial(steps.send, result))

    def run_all(self) -> None:
        while self.waiting:
            self.run_one()

    def _go_on(self, steps: Steps[None], resume: Callable[[], int | Job]) -> None:
        try:
            step = resume()
            while isinstance(step, int):
                step = next(steps)
        except StopIteration:
            return
        self.waiting.append((steps, step))
