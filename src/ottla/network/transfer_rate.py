"""The rate at which bytes move, over the last seconds in which they could.

Pure. Time counts only while the transfer is active: a client that we do not read is not slow. Only
the last `WINDOW_S` count, in steps of `STEP_S`: a burst at the beginning does not make up for a
low rate later.
"""

from __future__ import annotations

from collections import deque

WINDOW_S = 3.0
STEP_S = 1.0
_MARKS = int(WINDOW_S / STEP_S) + 1


class TransferRate:
    __slots__ = ("_active_s", "_bytes", "_is_active", "_marks", "_moved_at_s", "_switched_s")

    def __init__(self, now_s: float, moved_bytes: int = 0, *, is_active: bool = True) -> None:
        self._bytes = moved_bytes
        self._is_active = is_active
        self._switched_s = now_s
        self._active_s = 0.0  # until `_switched_s`
        self._moved_at_s = 0.0  # in active time, as the marks are
        self._marks: deque[tuple[float, int]] = deque([(0.0, moved_bytes)], _MARKS)

    def active_s(self, now_s: float) -> float:
        """The time in which bytes could move."""
        return self._active_s + (now_s - self._switched_s if self._is_active else 0.0)

    def switch(self, now_s: float, *, is_active: bool) -> None:
        self._active_s, self._switched_s = self.active_s(now_s), now_s
        self._is_active = is_active

    def record(self, now_s: float, total_bytes: int) -> None:
        """`total_bytes` have moved since the beginning."""
        if total_bytes != self._bytes:
            self._bytes = total_bytes
            self._moved_at_s = at_s = self.active_s(now_s)
            self._mark(at_s)

    def bytes_per_s(self, now_s: float) -> float | None:
        """None during the first `WINDOW_S`."""
        at_s = self.active_s(now_s)
        if at_s < WINDOW_S:
            return None
        self._mark(at_s)
        if at_s - self._moved_at_s >= WINDOW_S:
            return 0.0
        since_s, earlier_bytes = self._marks[0]
        return (self._bytes - earlier_bytes) / (at_s - since_s)

    def _mark(self, at_s: float) -> None:
        if at_s - self._marks[-1][0] >= STEP_S:
            self._marks.append((at_s, self._bytes))
