"""Disk work in threads: while the broker serves, and at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from ottla.base.steps import Job
from ottla.storage.log.flushing import Done

CLOSING_THREADS = 16


def run_elsewhere(work: Callable[[], None], done: Done) -> None:
    """Disk work in a thread; `done` is called back in the event loop."""
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(None, work)
    future.add_done_callback(lambda finished: done(as_error(finished)))


def run_in_threads(works: Sequence[Job]) -> None:
    """At the end, when nobody is served any more: a disk takes many syncs at a time."""
    with ThreadPoolExecutor(CLOSING_THREADS, thread_name_prefix="closing") as threads:
        for _ in threads.map(lambda work: work(), works):
            pass


def as_error(finished: asyncio.Future[None]) -> Exception | None:
    error = finished.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    return error
