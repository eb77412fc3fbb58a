"""Deadlines by name."""

from __future__ import annotations

from random import Random
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.base.scheduling import timers as timers_module
from ottla.base.scheduling.timers import MOVED_AT_ONCE, PASSED_AT_ONCE, STALE_MAX, Timers
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


def test_started_is_called_only_for_deadlines_before_the_queued_one() -> None:
    started: list[int] = []
    timers = Timers[str](lambda: 0, started.append)
    timers.start("a", 50)
    timers.start("a", 60)  # put off: no new queue entry
    timers.start("a", 40)
    assert started == [50, 40]


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


def test_a_cancelled_or_expired_key_is_released_at_once() -> None:
    class Key:
        pass

    timers: Timers[Key] = Timers(lambda: 0)
    cancelled, expired = Key(), Key()
    released = [ref(cancelled), ref(expired)]
    timers.start(cancelled, 1000)
    timers.start(expired, 1000)
    timers.start(expired, 0)  # brought forward: its first entry is still queued
    timers.cancel(cancelled)
    assert timers.take_expired() is expired
    del cancelled, expired
    assert [each() for each in released] == [None, None]


def test_entries_of_cancelled_deadlines_are_bounded() -> None:
    timers: Timers[int] = Timers(lambda: 0)
    timers.start(-1, 1000)
    for at in range(10 * STALE_MAX):
        timers.start(at, 1_000_000)
        timers.cancel(at)
    assert len(timers._queue) <= STALE_MAX + 3
    assert timers.next_ms == 1000


def test_entries_of_deadlines_that_are_brought_forward_are_bounded() -> None:
    timers: Timers[str] = Timers(lambda: 0)
    for delay_ms in range(10 * STALE_MAX, 0, -1):
        timers.start("a", delay_ms)
    assert len(timers._queue) <= STALE_MAX + 3
    assert timers.next_ms == 1


def test_very_many_stale_entries_are_removed_a_few_with_each_call() -> None:
    timers: Timers[int] = Timers(lambda: 0)
    for at in range(20 * STALE_MAX):
        timers.start(at, 1000 + at)
    entries = len(timers._queue)
    for at in range(20 * STALE_MAX - 5):
        timers.cancel(at)
        before, entries = entries, len(timers._queue) + len(timers._old_queue)
        assert before - entries <= MOVED_AT_ONCE
    for _ in range(2 * STALE_MAX):
        timers.start(20 * STALE_MAX, 50_000)
    assert len(timers._queue) + len(timers._old_queue) <= 2 * STALE_MAX
    assert len(timers) == 6


def test_a_call_removes_few_stale_entries_and_nothing_that_is_due_is_missed() -> None:
    """Thousands of requests have the same deadline, and nearly all end before it."""
    clock = ManualClock()
    timers: Timers[int] = Timers(lambda: round(clock.monotonic_s() * 1000))
    count = STALE_MAX // 2
    for at in range(count):
        timers.start(at, 1000)
    for at in range(count - 1):
        timers.cancel(at)
    clock.advance_ms(1000)
    taken = []
    while timers.is_due:
        before = len(timers._queue)
        taken.append(timers.take_expired())
        assert before - len(timers._queue) <= PASSED_AT_ONCE
    assert [key for key in taken if key is not None] == [count - 1]
    assert len(taken) >= count // PASSED_AT_ONCE
