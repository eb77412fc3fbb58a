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
from typing import Protocol, TypeVar

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
    try:
        work = next(steps)
        while True:
            try:
                await (pause() if work is PAUSE else run_blocking(work))
            except OSError as error:
                work = steps.throw(error)
            else:
                work = next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        steps.close()
