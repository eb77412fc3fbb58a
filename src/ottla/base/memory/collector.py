"""Configuration of Python's garbage collector, whose full passes stop the process.

A full pass visits every object, and runs whenever the oldest generation has grown by a quarter, so
allocating many objects would cause repeated passes. They find nothing: partitions, connections and
requests have no reference cycles and are freed with their last reference. A process that runs only
a broker therefore freezes long-lived objects, and makes no full pass while large requests are
served.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Young generations as by default. Garbage in the oldest one is rare, and a full pass takes long.
THRESHOLDS = (700, 10, 100)
PYTHONS_THRESHOLDS = gc.get_threshold()
NO_FULL_PASS = (700, 10, 2**31 - 1)
WITHOUT_FULL_PASS_S_MAX = 60.0  # then a full pass may run: some objects do have reference cycles


def begin_broker_process() -> None:
    """Mark this process as running only a broker, and freeze the objects that exist now."""
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
    _Process.is_broker_alone = True


def end_broker_process() -> None:
    """Undo `begin_broker_process`, for tests."""
    _Process.is_broker_alone = False
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
    since_s = 0.0  # when full passes were first suspended


@contextmanager
def without_full_pass() -> Iterator[None]:
    """Suspend full passes while very many objects are allocated that will be freed together. For
    the event loop only."""
    now_s = time.monotonic()
    is_due = _Large.count > 0 and now_s - _Large.since_s > WITHOUT_FULL_PASS_S_MAX
    if is_due or not _Large.count:
        _Large.since_s = now_s
    _Large.count += 1
    if _Process.is_broker_alone:
        gc.set_threshold(*(THRESHOLDS if is_due else NO_FULL_PASS))
    try:
        yield
    finally:
        _Large.count -= 1
        if not _Large.count and _Process.is_broker_alone:
            gc.set_threshold(*THRESHOLDS)
