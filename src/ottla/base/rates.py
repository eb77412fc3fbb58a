"""Rates over time windows and throttle times, computed as Kafka does.

Promises  pure: the time is an argument. Throttle times equal Kafka's to the millisecond, which
          requires its windows and its order of summation.
Leaves    what is measured, and for which client, to `handlers/quotas/`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MS_PER_S = 1000
WINDOWS_MAX = 1000
WAIT_MS_MAX = 2**31 - 1  # the field is an int32


@dataclass(frozen=True, slots=True)
class Windows:
    """The measured period: `count` windows of `size_ms` each."""

    count: int
    size_ms: int

    @property
    def total_ms(self) -> int:
        return self.count * self.size_ms


def windows_of(count: int, size_s: int) -> Windows:
    """The windows for a broker's settings. Each charge visits all windows: above `WINDOWS_MAX`,
    several are merged into one, so that the measured period stays the same."""
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

    A new meter assumes that all windows before the current one were idle, so that a short burst
    does not count as a high rate.
    """

    __slots__ = ("_at", "_recent")

    def __init__(self) -> None:
        self._recent: list[_Window] = []  # a ring buffer: the oldest follows the current one
        self._at = 0  # index of the current window

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
        """The time until the rate is back at the limit, if nothing more is recorded."""
        amount, measured_ms = self._measure(now_ms, windows)
        excess = amount / (measured_ms / MS_PER_S) - limit
        if excess <= 0:
            return 0
        return whole_ms(excess / limit * measured_ms) if limit else WAIT_MS_MAX

    @property
    def amount(self) -> float:
        """The sum of all windows that have not expired."""
        return sum(window.amount for window in self._recent)

    def _begin_next(self, now_ms: int, windows: Windows) -> _Window:
        # One more window than is measured: the oldest may overlap the measured period.
        self._at = (self._at + 1) % (windows.count + 1)
        if self._at >= len(self._recent):
            self._recent.append(_Window(now_ms))
        else:
            self._recent[self._at].begin(now_ms)
        return self._recent[self._at]

    def _measure(self, now_ms: int, windows: Windows) -> tuple[float, int]:
        """The recorded amount and the measured milliseconds. Expired windows are reset."""
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
    """Tokens arrive at a constant rate; the capacity is what arrives during all windows.

    It may be overdrawn once: a bucket that is not negative allows any amount, and blocks
    afterwards.
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
        """The time until the bucket is no longer negative."""
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
    """Rounded to the nearest integer, halves up, as in Java."""
    if wait_ms >= WAIT_MS_MAX:
        return WAIT_MS_MAX
    below = math.floor(wait_ms)
    return below + (wait_ms - below >= 0.5)
