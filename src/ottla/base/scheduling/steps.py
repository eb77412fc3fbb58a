"""Long work as a generator, which yields to the event loop and delegates jobs to threads.

    def copying(source: Log, target: Log) -> Steps[int]:
        found = yield from looking_up(lambda reader: source.read(reader, ...))
        data = yield found.records.read     # a job: runs in a thread; the yield returns its result
        target.append_as_follower(data)     # on the event loop
        yield PAUSE                         # other work may run here
        return len(data)

Owns      the two kinds of steps. An int marks a point where other work may run; its value is the
          number of bytes by which the response has grown, or 0. A job is a callable that uses only
          files and its own data, so that it can run in a thread; the `yield` returns its result or
          raises its exception.
Promises  nothing else runs on the event loop between two yields; any state may change at a yield.
Leaves    when and where steps run to a driver: `StepScheduler` on an event loop, `run_blocking`
          elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from ottla.base.files.readers import LookUpReader, NotCached, Reader
from ottla.base.memory.stored_errors import without_traceback

T = TypeVar("T")
Job: TypeAlias = Callable[[], Any]
Steps: TypeAlias = Generator[int | Job, Any, T]
PAUSE = 0
Start: TypeAlias = Callable[[Steps[None]], None]  # runs steps in the background


class Driver(Protocol):
    """Runs steps on an event loop: `StepScheduler`, or `DedicatedDriver` with its own threads."""

    async def run(self, steps: Steps[T]) -> T:
        """Run to completion, in as many slices as needed, and return the result."""

    def start(self, steps: Steps[None]) -> None:
        """Run up to the first job or pause now, and the rest in the background."""

    def in_thread(self, job: Callable[[], T]) -> Awaitable[T]:
        """The result of a single job."""

    async def next(self) -> None:
        """Wait until a slice may run."""


def looking_up(attempt: Callable[[Reader], T]) -> Steps[T]:
    """The result of `attempt`. It is restarted after each cache miss, so it must not change state
    before its last read."""
    reader = LookUpReader()
    while True:
        try:
            return attempt(reader)
        except NotCached as error:
            missing = without_traceback(error)
        yield partial(reader.fetch, [missing])


def looking_up_in_steps(begin: Callable[[LookUpReader], Steps[T]]) -> Steps[T]:
    """As `looking_up`, for long attempts, which are steps themselves. State may change at each of
    their yields; results that the next attempt needs are stored by the caller."""
    reader = LookUpReader()
    while True:
        try:
            return (yield from begin(reader))
        except NotCached as error:
            missing = without_traceback(error)
        yield partial(reader.fetch, [missing])


def noting(steps: Steps[T], note: Callable[[int], None]) -> Steps[T]:
    """The same steps; `note` is called with the growth of the result."""
    resume: Callable[[], int | Job] = steps.__next__
    try:
        while True:
            try:
                step = resume()
            except StopIteration as end:
                value: T = end.value
                return value
            if isinstance(step, int):
                note(step)
            resume = yield from _forwarded(steps, step)
    finally:
        steps.close()


def until(is_over: Callable[[], bool], steps: Steps[None]) -> Steps[None]:
    """The same steps, ended at the first yield after which `is_over()` is true."""
    resume: Callable[[], int | Job] = steps.__next__
    try:
        while True:
            try:
                step = resume()
            except StopIteration:
                return
            resume = yield from _forwarded(steps, step)
            if is_over():
                return
    finally:
        steps.close()


def _forwarded(steps: Steps[T], step: int | Job) -> Steps[Callable[[], int | Job]]:
    """The next step, after passing in the outcome of the last one."""
    try:
        outcome = yield step
    except Exception as error:
        return partial(steps.throw, error)
    return partial(steps.send, outcome)


def run_blocking(steps: Steps[T]) -> T:
    """Run all steps in the calling thread, including jobs, without pauses."""
    try:
        step = next(steps)
        while True:
            if isinstance(step, int):
                step = next(steps)
                continue
            try:
                result = step()
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value
