"""Fault points: nothing without the variable, death at the right time with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.base.fault_points import ONCE, VARIABLE, FaultPoint, FaultPoints, SinkPoint, java_above


class Counting(FaultPoints):
    deaths = 0

    def die(self) -> None:
        self.deaths += 1


def test_nothing_happens_unless_asked_for() -> None:
    points = Counting({})
    for point in FaultPoint:
        points.reach(point)
    assert points.deaths == 0


def test_the_named_point_is_deadly_the_first_time() -> None:
    points = Counting({VARIABLE: "prepare-logged"})
    points.reach(FaultPoint.END_RECEIVED)
    assert points.deaths == 0
    points.reach(FaultPoint.PREPARE_LOGGED)
    assert points.deaths == 1


def test_or_at_the_time_that_was_named() -> None:
    points = Counting({VARIABLE: "data-appended:3"})
    for expected in (0, 0, 1, 1):
        points.reach(FaultPoint.DATA_APPENDED)
        assert points.deaths == expected


def test_a_name_that_is_none_is_no_mistake_to_overlook() -> None:
    with pytest.raises(ValueError, match="no-such-point"):
        FaultPoints({VARIABLE: "no-such-point"})


def test_with_a_file_only_the_first_process_dies(tmp_path: Path) -> None:
    environment = {VARIABLE: "sink-decided", ONCE: str(tmp_path / "died")}
    first, second = Counting(environment), Counting(environment)
    second.reach(SinkPoint.WRITTEN)
    first.reach(SinkPoint.DECIDED)
    second.reach(SinkPoint.DECIDED)
    assert (first.deaths, second.deaths) == (1, 0)


def test_a_process_without_a_java_ancestor_is_reported() -> None:
    with pytest.raises(ProcessLookupError):
        java_above(1)
