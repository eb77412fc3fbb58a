"""How fast something goes, and how long to wait where that is too fast. Kafka's arithmetic.

Promises  pure: whoever asks brings the time. Waiting times are Kafka's to the millisecond, which
          is why windows stand and sums are made in its order.
Leaves    what is measured, and for whom, to `handlers/quotas/`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MS_PER_S = 1000
WINDOWS_MAX = 1000
WAIT_MS_MAX = 2**31 - 1  # answers have no room for more


@dataclass(frozen=True, slots=True)
class Windows:
    """Over which time is measured: so many windows, each so long."""

    count: int
    size_ms: int

    @property
    def total_ms(self) -> int:
        return self.count * self.size_ms


def windows_of(count: int, size_s: int) -> Windows:
    """By a broker's settings. Every charge looks at all windows: of very many, each is longer
    instead, so that the same time is measured."""
    merged = -(-count // WINDOWS_MAX)
    return Windows(-(-count // merged), size_s * MS_PER_S * merged)


class _Window:
    __slots__ = ("amount", "last_ms", "start_ms")

    def __init__(self, start_ms: int) -> None:
        self.begin(start_ms)

    def begin(self, start_ms: int) -> None:
        self.start_ms = self.last_ms = start_ms
        self.amount = 0.0


class RateMeter:
    """An amount per second, over the last windows.

    A new meter counts as if it had been idle for all windows but the running one: a short burst is
    not mistaken for a high rate.
    """

    __slots__ = ("_at", "_recent")

    def __init__(self) -> None:
        self._recent: list[_Window] = []  # a ring: after the running one comes the oldest
        self._at = 0  # the running one

    def record(self, amount: float, now_ms: int, windows: Windows) -> None:
        if not self._recent:
            self._recent.append(_Window(now_ms))
        window = self._recent[self._at]
        if now_ms - window.start_ms >= windows.size_ms:
            window = self._begin_next(now_ms, windows)
        window.amount += amount
        window.last_ms = now_ms

    def per_second(self, now_ms: int, windows: Windows) -> float:
        amount, measured_ms = self._measure(now_ms, windows)
        return amount / (measured_ms / MS_PER_S)

    def wait_ms(self, limit: float, now_ms: int, windows: Windows) -> int:
        """After which time without anything more the rate is at the limit again."""
        amount, measured_ms = self._measure(now_ms, windows)
        excess = amount / (measured_ms / MS_PER_S) - limit
        if excess <= 0:
            return 0
        return whole_ms(excess / limit * measured_ms) if limit else WAIT_MS_MAX

    @property
    def amount(self) -> float:
        """What the windows hold that were not forgotten."""
        return sum(window.amount for window in self._recent)

    def _begin_next(self, now_ms: int, windows: Windows) -> _Window:
        # One more than are measured: the oldest may reach into the time that is.
        self._at = (self._at + 1) % (windows.count + 1)
        if self._at >= len(self._recent):
            self._recent.append(_Window(now_ms))
        else:
            self._recent[self._at].begin(now_ms)
        return self._recent[self._at]

    def _measure(self, now_ms: int, windows: Windows) -> tuple[float, int]:
        """What was recorded, and within how many milliseconds; what is old is forgotten."""
        total_ms, amount, oldest_ms = windows.total_ms, 0.0, now_ms
        for window in self._recent:
            if now_ms - window.last_ms >= total_ms:
                window.begin(now_ms)
            amount += window.amount
            oldest_ms = min(oldest_ms, window.start_ms)
        elapsed_ms = now_ms - oldest_ms
        missing = windows.count - 1 - elapsed_ms // windows.size_ms
        return amount, max(1, elapsed_ms + max(0, missing) * windows.size_ms)


class TokenBucket:
    """So many a second, and after a quiet time as many at once as all windows bring.

    It may be overdrawn once: whoever owes nothing may take any number, and waits afterwards.
    """

    __slots__ = ("_filled_ms", "_tokens")

    def __init__(self) -> None:
        self._tokens: float | None = None  # full
        self._filled_ms = 0

    def take(self, amount: float, limit: float, now_ms: int, windows: Windows) -> None:
        full = full_bucket(limit, windows)
        self._tokens = min(full, self._fill(limit, now_ms, windows) - amount)

    def is_overdrawn(self, limit: float, now_ms: int, windows: Windows) -> bool:
        return self._fill(limit, now_ms, windows) < 0

    def wait_ms(self, limit: float, now_ms: int, windows: Windows) -> int:
        """After which time nothing is owed any more."""
        tokens = self._fill(limit, now_ms, windows)
        return whole_ms(-tokens / limit * MS_PER_S) if tokens < 0 else 0

    def _fill(self, limit: float, now_ms: int, windows: Windows) -> float:
        full = full_bucket(limit, windows)
        if self._tokens is None:
            self._tokens = full
        new = limit * ((now_ms - self._filled_ms) / MS_PER_S)
        self._tokens = min(full, self._tokens + new)
        self._filled_ms = now_ms
        return self._tokens


def full_bucket(limit: float, windows: Windows) -> float:
    return windows.count * (windows.size_ms / MS_PER_S) * limit


def whole_ms(wait_ms: float) -> int:
    """To the nearest, and halves up, as Java rounds."""
    if wait_ms >= WAIT_MS_MAX:
        return WAIT_MS_MAX
    below = math.floor(wait_ms)
    return below + (wait_ms - below >= 0.5)
