"""A block without garbage collection: what is freed in it has no reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
