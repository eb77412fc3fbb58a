"""Configuration of Python's garbage collector, whose full passes stop the process.

A full pass visits every object, and runs whenever the oldest generation has grown by a quarter, so
allocating many objects would cause repeated passes. They find nothing: partitions, connections and
requests have no reference cycles and are freed with their last reference. A process that runs only
a broker therefore freezes long-lived objects, and makes no full pass while large requests are
served.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Young generations as by default. Garbage in the oldest one is rare, and a full pass takes long.
THRESHOLDS = (700, 10, 100)
PYTHONS_THRESHOLDS = gc.get_threshold()
NO_FULL_PASS = (700, 10, 2**31 - 1)
RESUMED_AFTER_S = 5.0  # after large work: by then its objects are freed
WITHOUT_FULL_PASS_S_MAX = 60.0  # then a full pass may run: some objects do have reference cycles


def begin_broker_process() -> None:
    """Mark this process as running only a broker, and freeze the objects that exist now."""
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
    _Process.is_broker_alone = True


def end_broker_process() -> None:
    """Undo `begin_broker_process`, for tests."""
    _Process.is_broker_alone = False
    _Large.since_s = _Large.resumes = None
    gc.unfreeze()
    gc.set_threshold(*PYTHONS_THRESHOLDS)


def freeze_new_objects(*, collects_first: bool) -> None:
    """Freeze many new long-lived objects. Does nothing in a process that does not run only a
    broker.

    Garbage among them would be frozen as well. Collecting first takes time in proportion to the
    objects that are not frozen yet.
    """
    if _Process.is_broker_alone:
        if collects_first:
            gc.collect()
        gc.freeze()


@contextmanager
def paused_collector() -> Iterator[None]:
    """Disable collection in a block. Objects without reference cycles are still freed at once."""
    was_on = gc.isenabled()
    gc.collect(1)  # young garbage would otherwise be promoted and frozen later
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Process:
    """A flag, because `gc.get_freeze_count` visits every frozen object."""

    is_broker_alone = False


class _Large:
    """The work in progress that allocates very many objects."""

    count = 0
    since_s: float | None = None  # when full passes were suspended
    resumes: asyncio.TimerHandle | None = None


@contextmanager
def without_full_pass() -> Iterator[None]:
    """Suspend full passes while very many objects are allocated that will be freed together, and
    for a moment longer. For the event loop only."""
    _Large.count += 1
    if _Process.is_broker_alone:
        _suspend(time.monotonic())
    try:
        yield
    finally:
        _Large.count -= 1
        if not _Large.count and _Process.is_broker_alone:
            _resume_later()


def _suspend(now_s: float) -> None:
    if _Large.since_s is None:
        _Large.since_s = now_s
    if now_s - _Large.since_s > WITHOUT_FULL_PASS_S_MAX:
        _Large.since_s = now_s
        gc.set_threshold(*THRESHOLDS)
    else:
        gc.set_threshold(*NO_FULL_PASS)


def _resume_later() -> None:
    """The counter of a suspended pass has passed its threshold: the pass runs as soon as it may,
    and would visit what the next part of the same request uses, or the response of this one."""
    if _Large.resumes is not None:
        _Large.resumes.cancel()
        _Large.resumes = None
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        _resume()
    else:
        _Large.resumes = loop.call_later(RESUMED_AFTER_S, _resume)


def _resume() -> None:
    _Large.resumes = None
    if not _Large.count:
        _Large.since_s = None
        gc.set_threshold(*THRESHOLDS)
