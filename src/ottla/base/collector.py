"""Python's garbage collector, which stops everything for as long as it takes to look at everything.

While very many lasting objects are made, it would look at all of them again and again: that is what
its oldest generation does whenever it has grown by a quarter.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Objects without cycles still go at once; the others wait until the end."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
