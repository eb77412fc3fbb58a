from __future__ import annotations

from ottla.cli.consuming.stalls import FIRST_CHECK_S, LAST_CHECK_S, StallTimer


def due_times(timer: StallTimer, until_s: int) -> list[int]:
    return [now_s for now_s in range(until_s) if timer.is_due(now_s)]


def test_checks_become_rarer_while_nothing_arrives() -> None:
    assert due_times(StallTimer(0), 800) == [10, 30, 70, 150, 310, 470, 630, 790]
    assert (FIRST_CHECK_S, LAST_CHECK_S) == (10, 160)


def test_progress_begins_a_new_interval() -> None:
    timer = StallTimer(0)
    assert due_times(timer, 40) == [10, 30]
    timer.progressed(45)
    assert [now_s for now_s in range(45, 90) if timer.is_due(now_s)] == [55, 75]
