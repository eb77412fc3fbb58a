"""Configuration of Python's garbage collector, whose full passes stop the process.

By default a full pass visits every object that exists: with some million objects, it stops the
process for a second. Hardly any of them is garbage: partitions, connections, sessions and requests
have no reference cycles and are freed with their last reference. A process that runs only a broker
therefore visits each object in one full pass at most: those that survive a pass are frozen. What is
frozen is still freed with its last reference, but not as part of a cycle.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping

# Young generations as by default. A full pass after each 700 * 10 * 5 new objects takes some
# milliseconds, because earlier survivors are frozen.
THRESHOLDS = (700, 10, 5)
PYTHONS_THRESHOLDS = gc.get_threshold()
OLDEST_GENERATION = 2


def begin_broker_process() -> None:
    """Mark this process as running only a broker, and freeze the objects that exist now."""
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
    gc.collect()  # of nothing: a full pass runs when a quarter of what the last one saw is new
    if not is_broker_process():
        gc.callbacks.append(_freeze_survivors)


def end_broker_process() -> None:
    """Undo `begin_broker_process`, for tests."""
    if is_broker_process():
        gc.callbacks.remove(_freeze_survivors)
    gc.unfreeze()
    gc.set_threshold(*PYTHONS_THRESHOLDS)


def is_broker_process() -> bool:
    return _freeze_survivors in gc.callbacks


def _freeze_survivors(phase: str, info: Mapping[str, int]) -> None:
    if phase == "stop" and info["generation"] == OLDEST_GENERATION:
        gc.freeze()
