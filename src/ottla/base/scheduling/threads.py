"""Thread pools for jobs; the only module that moves work from the event loop to threads.

Owns      the assignment of jobs to threads. Jobs of one kind share one `Threads`, so that many jobs
          of one kind do not delay another kind.
Promises  jobs start in order of submission, and their outcome is delivered on the event loop.
Leaves    to the job that it uses only files and its own data.
"""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from threading import Thread
from typing import Protocol, TypeVar

T = TypeVar("T")

CLOSING_THREADS = 16


class RunJob(Protocol):
    """Runs a job and returns its result: in a thread, or directly in tests."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]: ...


class Threads:
    def __init__(self, executor: Executor | None = None) -> None:
        """Without an executor, the event loop's default executor is used."""
        self._executor = executor

    @classmethod
    def named(cls, name: str, count: int) -> Threads:
        """A separate pool of at most `count` threads, which are created on demand."""
        return cls(ThreadPoolExecutor(count, thread_name_prefix=name))

    def run(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """Called from the event loop."""
        return get_running_loop().run_in_executor(self._executor, job)

    def close(self) -> None:
        """Wait until all jobs have ended. Blocks."""
        if self._executor is not None:
            self._executor.shutdown()


def run_detached(job: Callable[[], object]) -> None:
    """Run a job for whose end nothing waits: it ends with the process."""
    Thread(target=job, name="detached", daemon=True).start()


def run_in_threads(jobs: Sequence[Callable[[], object]]) -> None:
    """Run all jobs at shutdown, in parallel: a disk handles many syncs at a time."""
    with ThreadPoolExecutor(CLOSING_THREADS, thread_name_prefix="closing") as threads:
        for _ in threads.map(lambda job: job(), jobs):
            pass
