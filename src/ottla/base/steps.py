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

import asyncio
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ottla.base.kept_errors import without_frames
from ottla.base.readers import LookUpReader, NotCached, Reader

T = TypeVar("T")
Job: TypeAlias = Callable[[], Any]
Steps: TypeAlias = Generator[int | Job, Any, T]
PAUSE = 0


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


async def drive(steps: Steps[T]) -> T:
    """On an event loop: each job in a thread, and others have their turn at every pause."""
    try:
        step = next(steps)
        while True:
            if isinstance(step, int):
                await asyncio.sleep(0)
                step = next(steps)
                continue
            try:
                result = await asyncio.to_thread(step)
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


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
