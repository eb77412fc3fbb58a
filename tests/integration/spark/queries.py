"""Streams that are run to their end, though Spark is impatient with its own Python.

Spark gives a Python process ten seconds to start and to call back, whatever the machine has to do
besides, and offers no setting. A query that ends for that is started again from its checkpoint, as
its operator would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

STARTED_TOO_SLOWLY = "Python worker failed to connect back"
TRIES_MAX = 10
T = TypeVar("T")


def run_query(start: Callable[[], Any]) -> Any:
    """The query that ended by itself; what it fails with is raised."""

    def run() -> Any:
        query = start()
        query.awaitTermination()
        return query

    return insist(run)


def insist(act: Callable[[], T]) -> T:
    """Again, if it failed because a process started too slowly."""
    for _ in range(TRIES_MAX):
        try:
            return act()
        except Exception as error:
            if STARTED_TOO_SLOWLY not in str(error):
                raise
            last = error
    raise last
