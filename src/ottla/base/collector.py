"""Python's garbage collector, which stops everything for as long as it takes to look at everything.

While very many lasting objects are made, it would look at all of them again and again: that is what
its oldest generation does whenever it has grown by a quarter. And it would look at them ever after,
though there is nothing to find: partitions, connections and requests make no circles, and go the
moment nobody knows them. So a process that is a broker alone takes what lasts out of its sight.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Young objects as ever. Old ones that are garbage are few, and a look at all of them takes long.
THRESHOLDS = (700, 10, 100)


def begin_lasting() -> None:
    """From here on this process is a broker: what it holds now stays, its code above all."""
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()


def keep_lasting(*, looks_first: bool) -> None:
    """Much was made that stays. A process that belongs to others too is left as it is.

    Garbage among it would stay as well. To look for it takes as long as there is much that is new:
    what was taken out of sight before costs nothing.
    """
    if gc.get_freeze_count():
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
