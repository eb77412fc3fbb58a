"""The rate is that of the last seconds in which bytes could move."""

from random import Random

import pytest

from ottla.network.transfer_rate import WINDOW_S, TransferRate


def test_before_the_window_is_over_nothing_is_said() -> None:
    progress = TransferRate(100.0)
    progress.record(100.5, 10)
    assert progress.bytes_per_s(100.0 + WINDOW_S - 0.01) is None
    assert progress.bytes_per_s(100.0 + WINDOW_S) is not None


def test_steady_bytes_have_their_rate() -> None:
    progress = TransferRate(0.0)
    for tenth in range(1, 100):
        progress.record(tenth / 10, tenth * 100)
    assert progress.bytes_per_s(9.9) == pytest.approx(1000, rel=0.05)


def test_a_burst_at_the_beginning_does_not_make_up_for_a_trickle() -> None:
    progress = TransferRate(0.0)
    progress.record(0.1, 4_000_000)
    for second in range(1, 6):
        progress.record(float(second), 4_000_000 + second)
    rate = progress.bytes_per_s(5.0)
    assert rate is not None
    assert rate <= 2


def test_silence_after_a_burst_is_no_rate_at_all() -> None:
    progress = TransferRate(0.0)
    progress.record(0.1, 4_000_000)
    assert progress.bytes_per_s(3.5) == 0


def test_bytes_that_have_been_counted_are_no_progress() -> None:
    progress = TransferRate(0.0)
    progress.record(0.1, 10)
    for second in range(1, 9):
        progress.record(float(second), 10)
    assert progress.bytes_per_s(9.0) == 0


def test_time_in_which_nothing_could_move_does_not_count() -> None:
    progress = TransferRate(0.0)
    for tenth in range(1, 41):
        progress.record(tenth / 10, tenth * 100)
    before = progress.bytes_per_s(4.0)
    progress.switch(4.0, is_active=False)
    assert progress.bytes_per_s(1000.0) == before
    assert progress.active_s(1000.0) == 4.0
    progress.switch(1000.0, is_active=True)
    assert progress.active_s(1001.0) == 5.0
    assert progress.bytes_per_s(1003.5) == 0


def test_one_that_begins_while_off_has_no_time_until_it_is_on() -> None:
    progress = TransferRate(0.0, is_active=False)
    assert progress.active_s(50.0) == 0
    assert progress.bytes_per_s(50.0) is None


@pytest.mark.parametrize("seed", range(10))
def test_only_the_time_counts_in_which_bytes_could_move(seed: int) -> None:
    """However often it is switched, also to what it is already."""
    rng = Random(seed)
    is_on = rng.random() < 0.5
    now_s, on_s = 100.0, 0.0
    progress = TransferRate(now_s, is_active=is_on)
    for _ in range(100):
        pause_s = rng.choice((0.0, 0.25, 1.5))
        now_s += pause_s
        on_s += pause_s * is_on
        assert progress.active_s(now_s) == on_s
        if rng.random() < 0.7:
            is_on = rng.random() < 0.5
            progress.switch(now_s, is_active=is_on)
