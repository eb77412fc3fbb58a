"""Work in steps: what takes long is handed out, so that others get their turn meanwhile.

    def swapping(log: Log) -> Steps[bool]:
        log.rename_something()      # here, in the log's thread
        yield log.sync_something    # wherever the driver likes; it comes back with the outcome
        yield PAUSE                 # let others do something
        return True

An OSError of what was handed out is raised where it was handed out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Protocol, TypeVar

from ottla.base.cold_reads import ColdRead, Looking
from ottla.base.kept_errors import without_frames

T = TypeVar("T")
Work = Callable[[], None]
Steps = Generator[Work | None, None, T]
PAUSE = None


class RunBlocking(Protocol):
    """Runs work in a thread, such as `asyncio.to_thread`."""

    def __call__(self, work: Work, /) -> Awaitable[None]: ...


Pause = Callable[[], Awaitable[None]]


def run_steps(steps: Steps[T]) -> T:
    """All of it here and now: for tools and tests."""
    try:
        work = next(steps)
        while True:
            try:
                if work is not PAUSE:
                    work()
            except OSError as error:
                work = steps.throw(error)
            else:
                work = next(steps)
    except StopIteration as end:
        result: T = end.value
        return result


async def run_steps_elsewhere(steps: Steps[T], run_blocking: RunBlocking, pause: Pause) -> T:
    """What takes long runs in threads, one step after the other."""
    return await _run_elsewhere(steps, run_blocking, pause, nullcontext())


async def look_in_steps(
    begin: Callable[[], Steps[T]], run_blocking: RunBlocking, pause: Pause
) -> T:
    """As `run_steps_elsewhere`, for steps that only look: where they would wait for the disk on
    their way, they begin again once that was read."""
    looking = Looking()
    while True:
        try:
            return await _run_elsewhere(begin(), run_blocking, pause, looking)
        except ColdRead as error:
            cold = without_frames(error)
        await run_blocking(partial(looking.fetch, [cold]))


async def _run_elsewhere(
    steps: Steps[T],
    run_blocking: RunBlocking,
    pause: Pause,
    during: AbstractContextManager[None],
) -> T:
    try:
        with during:
            work = next(steps)
        while True:
            try:
                await (pause() if work is PAUSE else run_blocking(work))
            except OSError as error:
                with during:
                    work = steps.throw(error)
            else:
                with during:
                    work = next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        steps.close()
