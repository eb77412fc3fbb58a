"""How fast bytes move, over the last few seconds in which they could.

Pure. A client that is not read, because we paused it, is not slow: time counts only while the
progress is on. A burst at the beginning does not make up for a trickle later: what counts is the
last `WINDOW_S`, in steps of `STEP_S`.
"""

from __future__ import annotations

from collections import deque

WINDOW_S = 3.0
STEP_S = 1.0
_MARKS = int(WINDOW_S / STEP_S) + 1


class Progress:
    __slots__ = ("_bytes", "_is_on", "_marks", "_moved_at_s", "_on_s", "_switched_s")

    def __init__(self, now_s: float, moved_bytes: int = 0, *, is_on: bool = True) -> None:
        self._bytes = moved_bytes
        self._is_on = is_on
        self._switched_s = now_s
        self._on_s = 0.0  # until `_switched_s`
        self._moved_at_s = 0.0  # these are times of the progress, as `on_s` counts them
        self._marks: deque[tuple[float, int]] = deque([(0.0, moved_bytes)], _MARKS)

    def on_s(self, now_s: float) -> float:
        """For how long bytes could move."""
        return self._on_s + (now_s - self._switched_s if self._is_on else 0.0)

    def switch(self, now_s: float, *, is_on: bool) -> None:
        self._on_s, self._switched_s = self.on_s(now_s), now_s
        self._is_on = is_on

    def moved(self, now_s: float, total_bytes: int) -> None:
        """So many bytes have moved since the beginning."""
        if total_bytes != self._bytes:
            self._bytes = total_bytes
            self._moved_at_s = at_s = self.on_s(now_s)
            self._mark(at_s)

    def bytes_per_s(self, now_s: float) -> float | None:
        """None while it is too early to tell."""
        at_s = self.on_s(now_s)
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
