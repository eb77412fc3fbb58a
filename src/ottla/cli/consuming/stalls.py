"""When a read without records has to be checked, because records that exist should have arrived.

librdkafka can lose the start of a partition without an error: if an operation from another thread
(pause, resume, seek) overtakes it, it is dropped as outdated. The end-of-partition event, which
otherwise ends a read, then never comes. A check compares the position with the end offset.
"""

from __future__ import annotations

FIRST_CHECK_S = 10.0
LAST_CHECK_S = 160.0


class StallTimer:
    """Due after ten seconds without progress, then after twice as long each time.

    The growing interval lets a slow response arrive, which reading again would discard.
    """

    def __init__(self, now_s: float) -> None:
        self._interval_s = FIRST_CHECK_S
        self._due_s = now_s + FIRST_CHECK_S

    def progressed(self, now_s: float) -> None:
        self._interval_s = FIRST_CHECK_S
        self._due_s = now_s + FIRST_CHECK_S

    def is_due(self, now_s: float) -> bool:
        """True once for each interval."""
        if now_s < self._due_s:
            return False
        self._interval_s = min(self._interval_s * 2, LAST_CHECK_S)
        self._due_s = now_s + self._interval_s
        return True
