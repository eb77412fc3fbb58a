"""Clocks are passed as arguments: production code uses the system clocks, tests a manual one."""

import time
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since 1970."""

    def monotonic_s(self) -> float:
        """A monotonic clock in seconds, for deadlines."""

    def cpu_s(self) -> float:
        """The CPU time of this thread in seconds, for shares of the event loop."""


def monotonic_ms(clock: Clock) -> int:
    return int(clock.monotonic_s() * 1000)


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    monotonic_s = staticmethod(time.monotonic)
    cpu_s = staticmethod(time.thread_time)
