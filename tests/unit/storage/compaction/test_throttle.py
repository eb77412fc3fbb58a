"""Compaction leaves the disk to clients."""

from __future__ import annotations

from ottla.storage.compaction.throttle import NoThrottle, Throttle


class SlowClock:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept_s = 0.0

    def monotonic_s(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.slept_s += seconds


def test_work_is_stretched_to_the_rate() -> None:
    clock = SlowClock()
    throttle = Throttle(1000, clock.monotonic_s, clock.sleep)
    for _ in range(100):
        throttle.count(100)
    assert 9.5 <= clock.now_s - 100 <= 10


def test_work_that_is_slow_by_itself_is_not_slowed_further() -> None:
    clock = SlowClock()
    throttle = Throttle(1000, clock.monotonic_s, clock.sleep)
    for _ in range(100):
        clock.now_s += 0.2
        throttle.count(100)
    assert clock.slept_s == 0


def test_time_without_work_is_not_saved_up() -> None:
    clock = SlowClock()
    throttle = Throttle(1000, clock.monotonic_s, clock.sleep)
    throttle.count(1)
    clock.now_s += 1000
    throttle.count(1)
    throttle.count(5000)
    assert clock.slept_s >= 4.9


def test_without_a_limit_nothing_waits() -> None:
    NoThrottle().count(1 << 40)
