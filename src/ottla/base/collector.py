"""Python's garbage collector, whose full passes stop the process while they visit every object.

A full pass runs whenever the oldest generation has grown by a quarter, so making many objects would
cause one after the other. It finds nothing in them: partitions, connections and requests have no
reference cycles, and are freed with their last reference. So a process that is a broker alone
freezes the objects that stay, and makes no full pass while large requests are served.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Young objects as ever. Old ones that are garbage are few, and a look at all of them takes long.
THRESHOLDS = (700, 10, 100)
PYTHONS_THRESHOLDS = gc.get_threshold()
NO_FULL_PASS = (700, 10, 2**31 - 1)
WITHOUT_FULL_PASS_S_MAX = 60.0  # then one may run: not everything is free of cycles


def begin_lasting() -> None:
    """From here on this process is a broker: what it holds now stays, its code above all."""
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
    _Process.is_broker_alone = True


def end_lasting() -> None:
    """The process is a broker no longer, as in tests."""
    _Process.is_broker_alone = False
    gc.unfreeze()
    gc.set_threshold(*PYTHONS_THRESHOLDS)


def keep_lasting(*, looks_first: bool) -> None:
    """Much was made that stays. A process that belongs to others too is left as it is.

    Garbage among it would stay as well. To look for it takes as long as there is much that is new:
    what was taken out of sight before costs nothing.
    """
    if _Process.is_broker_alone:
        if looks_first:
            gc.collect()
        gc.freeze()


@contextmanager
def paused_collector() -> Iterator[None]:
    """Objects without cycles still go at once; the others wait until the end."""
    was_on = gc.isenabled()
    gc.collect(1)  # what is garbage now would be taken for lasting later
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Process:
    """Noted here, because `gc.get_freeze_count` visits every frozen object."""

    is_broker_alone = False


class _Large:
    """Work now under way that makes very many objects."""

    count = 0
    since_s = 0.0  # full passes are put off


@contextmanager
def without_full_pass() -> Iterator[None]:
    """While very many objects are made that will be freed together. From the event loop only."""
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
