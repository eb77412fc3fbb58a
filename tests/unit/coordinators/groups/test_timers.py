"""Deadlines by name."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.coordinators.groups import timers as timers_module
from ottla.coordinators.groups.timers import Timers
from ottla.testing.clock import ManualClock


def new_timers(clock: ManualClock) -> Timers[str]:
    return Timers(lambda: round(clock.monotonic_s() * 1000))


def take_all(timers: Timers[str]) -> list[str]:
    taken = []
    while (key := timers.take_expired()) is not None:
        taken.append(key)
    return taken


def test_what_is_due_first_expires_first_and_equals_in_their_order() -> None:
    clock = ManualClock()
    timers = new_timers(clock)
    for key, delay_ms in (("c", 30), ("a", 10), ("d", 30), ("b", 20)):
        timers.start(key, delay_ms)
    clock.advance_ms(30)
    assert take_all(timers) == ["a", "b", "c", "d"]
    assert timers.next_ms is None


def test_a_deadline_that_was_put_off_expires_at_the_later_time() -> None:
    clock = ManualClock()
    timers = new_timers(clock)
    timers.start("a", 10)
    timers.start("a", 50)
    clock.advance_ms(49)
    assert take_all(timers) == []
    clock.advance_ms(1)
    assert take_all(timers) == ["a"]


def test_a_deadline_that_was_brought_forward_expires_once_at_the_earlier_time() -> None:
    clock = ManualClock()
    timers = new_timers(clock)
    timers.start("a", 50)
    timers.start("a", 10)
    clock.advance_ms(10)
    assert take_all(timers) == ["a"]
    clock.advance_ms(100)
    assert take_all(timers) == []


def test_a_cancelled_deadline_never_expires_but_may_be_started_again() -> None:
    clock = ManualClock()
    timers = new_timers(clock)
    timers.start("a", 10)
    timers.cancel("a")
    clock.advance_ms(20)
    assert take_all(timers) == []
    timers.start("a", 0)
    assert take_all(timers) == ["a"]


def test_whoever_waits_is_told_of_earlier_deadlines_only_when_there_is_one() -> None:
    told: list[int] = []
    timers = Timers[str](lambda: 0, told.append)
    timers.start("a", 50)
    timers.start("a", 60)  # put off: nothing to tell
    timers.start("a", 40)
    assert told == [50, 40]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"),
            st.one_of(st.none(), st.integers(0, 40)),
            st.integers(0, 15),
        )
    )
)
def test_timers_agree_with_a_plain_table_of_deadlines(
    steps: list[tuple[str, int | None, int]],
) -> None:
    compare_with_table(steps)


@pytest.mark.parametrize("stale_max", [0, 2, 10])
@pytest.mark.parametrize("seed", range(5))
def test_entries_that_are_cleared_away_are_missed_by_no_deadline(
    seed: int, stale_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timers_module, "STALE_MAX", stale_max)
    rng = Random(seed)
    compare_with_table(
        [
            (rng.choice("abcd"), rng.choice((None, rng.randrange(40))), rng.randrange(15))
            for _ in range(500)
        ]
    )


def compare_with_table(steps: list[tuple[str, int | None, int]]) -> None:
    clock = ManualClock()
    timers = new_timers(clock)
    deadlines: dict[str, int] = {}
    now_ms = 0
    for key, delay_ms, passed_ms in steps:
        if delay_ms is None:
            timers.cancel(key)
            deadlines.pop(key, None)
        else:
            timers.start(key, delay_ms)
            deadlines[key] = now_ms + delay_ms
        assert timers.next_ms is not None or not deadlines
        assert not deadlines or (timers.next_ms or 0) <= min(deadlines.values())
        clock.advance_ms(passed_ms)
        now_ms += passed_ms
        due = {name for name, deadline in deadlines.items() if deadline <= now_ms}
        assert set(take_all(timers)) == due
        for name in due:
            del deadlines[name]
        assert len(timers) == len(deadlines)
