"""A limit on the rate at which compaction reads and writes, for the benefit of clients.

Owns      the count of bytes in the current period.
Promises  the rate over any longer time is at most the limit; short bursts are allowed.
Leaves    clock and sleeping to the caller, which passes them in.
"""

from __future__ import annotations

from collections.abc import Callable

PERIOD_S = 0.3  # as Kafka's


class Throttle:
    def __init__(
        self,
        bytes_per_second: float,
        monotonic_s: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._bytes_per_second = bytes_per_second
        self._monotonic_s = monotonic_s
        self._sleep = sleep
        self._period_began_s = monotonic_s()
        self._bytes = 0

    def count(self, size: int) -> None:
        """Count bytes that were read or written; wait if that was too fast."""
        self._bytes += size
        elapsed_s = self._monotonic_s() - self._period_began_s
        if elapsed_s < PERIOD_S and self._bytes < self._bytes_per_second * PERIOD_S:
            return
        ahead_s = self._bytes / self._bytes_per_second - elapsed_s
        if ahead_s > 0:
            self._sleep(ahead_s)
        self._period_began_s = self._monotonic_s()
        self._bytes = 0


class NoThrottle(Throttle):
    """No limit."""

    def __init__(self) -> None:
        super().__init__(float("inf"), lambda: 0.0, lambda _: None)

    def count(self, size: int) -> None:
        pass
