"""Streams that are run to their end, though Spark is impatient with its own Python.

Spark gives a Python process ten seconds to start and to call back, whatever the machine has to do
besides, and offers no setting. A query that ends for that is started again from its checkpoint, as
whoever runs it would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

STARTED_TOO_SLOWLY = "Python worker failed to connect back"
STARTS_MAX = 10


def run_query(start: Callable[[], Any]) -> Any:
    """The query that ended by itself; what it fails with is raised."""
    for left in reversed(range(STARTS_MAX)):
        query = start()
        try:
            query.awaitTermination()
            break
        except Exception as error:
            if STARTED_TOO_SLOWLY not in str(error) or not left:
                raise
    return query
