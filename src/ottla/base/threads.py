"""Threads for jobs: the one place from which work leaves the event loop for a thread.

Owns      which threads a job gets. Jobs of one kind share the threads of one `Threads`, so that a
          kind of which there may be many at a time cannot keep another kind waiting.
Promises  a job begins in the order in which it was handed in, and its outcome comes back on the
          event loop.
Leaves    to the job that it touches nothing but files and its own data.
"""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")

CLOSING_THREADS = 16


class RunJob(Protocol):
    """Runs a job, and returns what it returned: in a thread, or in tests at once."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]: ...


class Threads:
    def __init__(self, executor: Executor | None = None) -> None:
        """Without an executor: the event loop's own."""
        self._executor = executor

    @classmethod
    def named(cls, name: str, count: int) -> Threads:
        """Of their own, so many at most; each begins when there is a job for it."""
        return cls(ThreadPoolExecutor(count, thread_name_prefix=name))

    def run(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """From the event loop."""
        return get_running_loop().run_in_executor(self._executor, job)

    def close(self) -> None:
        """Return when all jobs have ended. In a thread: they may take long."""
        if self._executor is not None:
            self._executor.shutdown()


def run_in_threads(jobs: Sequence[Callable[[], object]]) -> None:
    """At the end, when nobody is served any more: a disk takes many syncs at a time."""
    with ThreadPoolExecutor(CLOSING_THREADS, thread_name_prefix="closing") as threads:
        for _ in threads.map(lambda job: job(), jobs):
            pass
