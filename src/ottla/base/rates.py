"""How fast something goes, and how long to wait where that is too fast. Kafka's arithmetic.

Promises  pure: whoever asks brings the time. A meter that has been idle long enough knows nothing
          any more, so it may be forgotten.
Leaves    what is measured, and for whom, to `handlers/quotas/`.
"""

from __future__ import annotations

from dataclasses import dataclass

MS_PER_S = 1000


@dataclass(frozen=True, slots=True)
class Windows:
    """Over which time is measured: so many windows, each so long."""

    count: int
    size_ms: int

    @property
    def total_ms(self) -> int:
        return self.count * self.size_ms


class _Window:
    __slots__ = ("amount", "last_ms", "start_ms")

    def __init__(self, start_ms: int) -> None:
        self.start_ms = self.last_ms = start_ms
        self.amount = 0.0


class RateMeter:
    """An amount per second, over the last windows.

    A new meter counts as if it had been idle for all windows but the running one: a short burst is
    not mistaken for a high rate.
    """

    __slots__ = ("_recent",)

    def __init__(self) -> None:
        self._recent: list[_Window] = []  # from old to new

    def record(self, amount: float, now_ms: int, windows: Windows) -> None:
        self._forget_old(now_ms, windows)
        recent = self._recent
        if not recent or now_ms - recent[-1].start_ms >= windows.size_ms:
            recent.append(_Window(now_ms))
            # One more than are measured: the oldest may reach into the time that is.
            del recent[: -windows.count - 1]
        recent[-1].amount += amount
        recent[-1].last_ms = now_ms

    def per_second(self, now_ms: int, windows: Windows) -> float:
        self._forget_old(now_ms, windows)
        total = sum(each.amount for each in self._recent)
        return total * MS_PER_S / self._measured_ms(now_ms, windows)

    def wait_ms(self, limit: float, now_ms: int, windows: Windows) -> int:
        """After which time without anything more the rate is at the limit again."""
        excess = self.per_second(now_ms, windows) - limit
        if excess <= 0:
            return 0
        return round(excess / limit * self._measured_ms(now_ms, windows))

    def is_idle(self, now_ms: int, windows: Windows) -> bool:
        self._forget_old(now_ms, windows)
        return not self._recent

    def _forget_old(self, now_ms: int, windows: Windows) -> None:
        recent = self._recent
        while recent and now_ms - recent[0].last_ms >= windows.total_ms:
            del recent[0]

    def _measured_ms(self, now_ms: int, windows: Windows) -> int:
        elapsed_ms = now_ms - self._recent[0].start_ms if self._recent else 0
        missing = windows.count - 1 - elapsed_ms // windows.size_ms
        return max(1, elapsed_ms + max(0, missing) * windows.size_ms)


class TokenBucket:
    """So many a second, and after a quiet time as many at once as all windows bring.

    It may be overdrawn once: whoever has a token left may take any number, and waits afterwards.
    """

    __slots__ = ("_filled_ms", "_tokens")

    def __init__(self) -> None:
        self._tokens: float | None = None  # full
        self._filled_ms = 0

    def take(self, amount: float, limit: float, now_ms: int, windows: Windows) -> None:
        self._tokens = self._fill(limit, now_ms, windows) - amount

    def wait_ms(self, limit: float, now_ms: int, windows: Windows) -> int:
        """After which time nothing is owed any more."""
        return max(0, round(-self._fill(limit, now_ms, windows) / limit * MS_PER_S))

    def is_idle(self, limit: float, now_ms: int, windows: Windows) -> bool:
        return self._fill(limit, now_ms, windows) >= full_bucket(limit, windows)

    def _fill(self, limit: float, now_ms: int, windows: Windows) -> float:
        full = full_bucket(limit, windows)
        if self._tokens is None:
            self._tokens = full
        new = limit * (now_ms - self._filled_ms) / MS_PER_S
        self._tokens = min(full, self._tokens + new)
        self._filled_ms = now_ms
        return self._tokens


def full_bucket(limit: float, windows: Windows) -> float:
    return limit * windows.total_ms / MS_PER_S
