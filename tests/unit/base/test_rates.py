"""Rates over windows and buckets of tokens: how long to wait."""

from __future__ import annotations

from random import Random

import pytest

from ottla.base.rates import WINDOWS_MAX, RateMeter, TokenBucket, Windows, windows_of

WINDOWS = Windows(11, 1000)
START_MS = 5_000_000
# Step in time, amount, rate, and waiting time at a limit of 10,000, as Kafka 4.3.1's `Rate` has
# them; windows as above.
KAFKA = [
    (560, 3210, 321.0, 0),
    (528, 46202, 4693.389, 0),
    (664, 46459, 9406.495, 0),
    (885, 15882, 11089.908, 1098),
    (514, 31981, 13571.334, 3782),
    (276, 17137, 14803.626, 5220),
    (199, 41911, 20145.241, 10212),
    (685, 13795, 20144.824, 10907),
    (613, 24357, 23247.202, 13729),
    (446, 1793, 22453.932, 13463),
    (35, 7922, 23111.941, 14220),
    (92, 417, 22955.655, 14170),
    (234, 13153, 25977.682, 16251),
    (757, 7089, 24826.867, 16203),
    (274, 6270, 27208.194, 17556),
    (728, 4135, 25774.291, 17241),
    (314, 30539, 30481.453, 20981),
    (57, 589, 30369.964, 20983),
    (838, 36507, 34455.863, 24796),
    (330, 9610, 34287.707, 25427),
    (25, 10075, 35166.095, 26409),
    (871, 23687, 37889.05, 28907),
    (222, 17850, 38780.58, 30470),
    (365, 43780, 41485.573, 34483),
]


def test_a_new_meter_counts_as_idle_before() -> None:
    """A burst in the first moment is spread over the ten windows before it."""
    meter = RateMeter()
    meter.record(1000, START_MS, WINDOWS)
    assert meter.per_second(START_MS, WINDOWS) == 100
    assert meter.per_second(START_MS + 500, WINDOWS) == pytest.approx(1000 / 10.5)


def test_a_steady_rate_is_measured_as_it_is() -> None:
    meter = RateMeter()
    for step in range(300):
        meter.record(50, START_MS + 100 * step, WINDOWS)
    assert meter.per_second(START_MS + 30_000, WINDOWS) == pytest.approx(500, rel=0.05)


def test_within_the_limit_there_is_no_throttling() -> None:
    meter = RateMeter()
    meter.record(1000, START_MS, WINDOWS)
    assert meter.wait_ms(100, START_MS, WINDOWS) == 0
    assert meter.wait_ms(101, START_MS, WINDOWS) == 0


def test_rates_and_waiting_times_are_kafkas() -> None:
    meter, now_ms = RateMeter(), START_MS
    for step_ms, amount, rate, wait_ms in KAFKA:
        now_ms += step_ms
        meter.record(amount, now_ms, WINDOWS)
        assert meter.per_second(now_ms, WINDOWS) == pytest.approx(rate, abs=0.001)
        assert meter.wait_ms(10_000, now_ms, WINDOWS) == wait_ms


def test_an_amount_given_back_was_never_used() -> None:
    meter = RateMeter()
    meter.record(3000, START_MS, WINDOWS)
    meter.record(-3000, START_MS + 5, WINDOWS)
    assert meter.per_second(START_MS + 10, WINDOWS) == 0


def test_what_was_long_ago_is_forgotten() -> None:
    meter = RateMeter()
    meter.record(3000, START_MS, WINDOWS)
    assert meter.per_second(START_MS + 10_999, WINDOWS) > 0
    assert meter.per_second(START_MS + 11_000, WINDOWS) == 0


def test_who_keeps_to_the_waiting_times_stays_at_the_limit() -> None:
    """Whatever is sent at once, the average over a long time is about the quota."""
    random, meter, now_ms, sent = Random(5), RateMeter(), START_MS, 0
    while now_ms < START_MS + 600_000:
        amount = random.randint(1, 50_000)
        meter.record(amount, now_ms, WINDOWS)
        sent += amount
        now_ms += random.randint(0, 20) + meter.wait_ms(10_000, now_ms, WINDOWS)
    assert sent / 600 == pytest.approx(10_000, rel=0.15)  # as near as Kafka's own


def test_a_meter_keeps_few_windows() -> None:
    meter = RateMeter()
    for step in range(1000):
        meter.record(1, START_MS + 999 * step, WINDOWS)
    assert len(meter._recent) <= WINDOWS.count + 1


def test_a_full_bucket_lets_as_much_pass_as_its_windows_bring() -> None:
    bucket = TokenBucket()
    bucket.take(11 * 5, 5, START_MS, WINDOWS)
    assert bucket.wait_ms(5, START_MS, WINDOWS) == 0
    bucket.take(1, 5, START_MS, WINDOWS)
    assert bucket.wait_ms(5, START_MS, WINDOWS) == 200
    assert bucket.wait_ms(5, START_MS + 200, WINDOWS) == 0


def test_a_bucket_may_be_overdrawn_once_and_is_full_again_after_a_quiet_time() -> None:
    bucket = TokenBucket()
    bucket.take(1000, 10, START_MS, WINDOWS)
    assert bucket.wait_ms(10, START_MS, WINDOWS) == 89_000
    bucket.take(110, 10, START_MS + 100_000, WINDOWS)
    assert not bucket.is_overdrawn(10, START_MS + 100_000, WINDOWS)


@pytest.mark.parametrize(
    ("count", "size_s", "windows"),
    [
        (11, 1, Windows(11, 1000)),
        (WINDOWS_MAX, 3, Windows(WINDOWS_MAX, 3000)),
        (WINDOWS_MAX + 1, 1, Windows(501, 2000)),
    ],
)
def test_of_very_many_windows_each_is_longer(count: int, size_s: int, windows: Windows) -> None:
    assert windows_of(count, size_s) == windows


def test_no_number_of_windows_makes_a_charge_slow() -> None:
    windows = windows_of(2**31 - 1, 1)
    assert windows.count <= WINDOWS_MAX
    assert (2**31 - 1) * 1000 <= windows.total_ms < 1.001 * (2**31 - 1) * 1000
