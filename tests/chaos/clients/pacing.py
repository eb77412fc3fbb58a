"""A steady rate, without catching up after a pause."""

from __future__ import annotations

import time


class Pace:
    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._since_s = time.monotonic()
        self._counted = 0

    def pause_s(self, count: int) -> float:
        """How long to wait after `count` records in total."""
        now_s = time.monotonic()
        due_s = self._since_s + (count - self._counted) / self._rate
        if due_s < now_s - 1.0:
            self._since_s, self._counted = now_s, count
        return max(0.0, due_s - now_s)
