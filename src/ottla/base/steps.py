"""Long work as a generator: it says where others may have their turn, and what a thread must do.

    def copying(source: Log, target: Log) -> Steps[int]:
        found = yield from looking_up(lambda reader: source.read(reader, ...))
        data = yield found.records.read     # a job: runs in a thread, its result comes back here
        target.append_as_follower(data)     # here, on the event loop
        yield PAUSE                         # others may have their turn
        return len(data)

Owns      what a step is. An int: others may have their turn here, and the result has grown by so
          many bytes, which matters to responses alone. A job: a callable that touches nothing but
          files and its own data, so that it may run in a thread. What it returns or raises comes
          out of the `yield`.
Promises  between two yields nothing else runs on the event loop; at each of them anything may
          change.
Leaves    when and where steps run to a driver: `Turns` on an event loop, `run_here` elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from ottla.base.kept_errors import without_frames
from ottla.base.readers import LookUpReader, NotCached, Reader

T = TypeVar("T")
Job: TypeAlias = Callable[[], Any]
Steps: TypeAlias = Generator[int | Job, Any, T]
PAUSE = 0
Start: TypeAlias = Callable[[Steps[None]], None]  # runs steps for which nobody waits


class Driver(Protocol):
    """What runs steps on an event loop: `Turns`, or a `Lane` with threads of its own."""

    async def run(self, steps: Steps[T]) -> T:
        """The result, after as many turns of the loop as it takes."""

    def start(self, steps: Steps[None]) -> None:
        """Here and now up to the first job or pause; nobody waits for the rest."""

    def in_thread(self, job: Callable[[], T]) -> Awaitable[T]:
        """What a single job returns."""

    async def next(self) -> None:
        """Let others have their turn."""


def looking_up(attempt: Callable[[Reader], T]) -> Steps[T]:
    """What `attempt` returns. It starts again whenever something had to be fetched for it, so it
    must change nothing before the last of its reads."""
    reader = LookUpReader()
    while True:
        try:
            return attempt(reader)
        except NotCached as error:
            missing = without_frames(error)
        yield partial(reader.fetch, [missing])


def searching(begin: Callable[[LookUpReader], Steps[T]]) -> Steps[T]:
    """As `looking_up`, for attempts that are steps themselves: what they have looked at may change
    at each of their yields, and what they want to keep for the next attempt they keep elsewhere."""
    reader = LookUpReader()
    while True:
        try:
            return (yield from begin(reader))
        except NotCached as error:
            missing = without_frames(error)
        yield partial(reader.fetch, [missing])


def noting(steps: Steps[T], note: Callable[[int], None]) -> Steps[T]:
    """The same steps; `note` is told by how much the result grows."""
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
            resume = yield from _handing_on(steps, step)
    finally:
        steps.close()


def until(is_over: Callable[[], bool], steps: Steps[None]) -> Steps[None]:
    """The same steps, given up at the first yield after which it `is_over`."""
    resume: Callable[[], int | Job] = steps.__next__
    try:
        while True:
            try:
                step = resume()
            except StopIteration:
                return
            resume = yield from _handing_on(steps, step)
            if is_over():
                return
    finally:
        steps.close()


def _handing_on(steps: Steps[T], step: int | Job) -> Steps[Callable[[], int | Job]]:
    """What tells the steps the outcome of one of them."""
    try:
        outcome = yield step
    except Exception as error:
        return partial(steps.throw, error)
    return partial(steps.send, outcome)


def run_here(steps: Steps[T]) -> T:
    """All of it without a pause, jobs included: for tools, tests and threads."""
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
