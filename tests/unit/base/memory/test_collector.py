from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping

import pytest
from tests.support.paused_collector import paused_collector

from ottla.base.memory.collector import (
    OLDEST_GENERATION,
    THRESHOLDS,
    begin_broker_process,
    end_broker_process,
)

MANY = 300_000  # a full pass over them takes longer than a request may


class Cycle:
    """Freed by the collector only."""

    def __init__(self) -> None:
        self.itself = self


def visible_cycles() -> int:
    """How many the collector would visit in a full pass."""
    return sum(type(each) is Cycle for each in gc.get_objects())


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    end_broker_process()
    gc.collect()
    assert gc.get_threshold() == thresholds


def test_a_full_pass_frees_garbage_and_freezes_what_survives() -> None:
    begin_broker_process()
    kept = Cycle()
    Cycle()
    assert gc.collect() >= 1
    assert visible_cycles() == 0
    gc.unfreeze()
    assert visible_cycles() == 1
    assert kept.itself is kept


def test_passes_over_young_objects_freeze_nothing() -> None:
    begin_broker_process()
    kept = Cycle()
    gc.collect(0)
    gc.collect(1)
    assert visible_cycles() == 1
    assert kept.itself is kept


def test_frozen_objects_without_cycles_are_freed_with_their_last_reference() -> None:
    begin_broker_process()
    freed: list[int] = []

    class Noted:
        def __del__(self) -> None:
            freed.append(1)

    kept = [Noted()]
    gc.collect()
    kept.clear()
    assert freed == [1]


def test_a_full_pass_visits_new_objects_only_however_many_there_are() -> None:
    begin_broker_process()
    visited: list[int] = []

    def count_before(phase: str, info: Mapping[str, int]) -> None:
        if phase == "start" and info["generation"] == OLDEST_GENERATION:
            visited.append(len(gc.get_objects()))

    gc.callbacks.append(count_before)
    try:
        kept = [[] for _ in range(MANY)]  # type: ignore[var-annotated]
    finally:
        gc.callbacks.remove(count_before)
    between_passes = THRESHOLDS[0] * THRESHOLDS[1] * THRESHOLDS[2]
    assert len(visited) >= MANY // (3 * between_passes)
    assert max(visited) <= 3 * between_passes
    assert len(kept) == MANY


def test_a_process_of_others_is_not_changed() -> None:
    kept = Cycle()
    gc.collect()
    assert visible_cycles() == 1
    assert gc.get_freeze_count() == 0
    assert kept.itself is kept


def test_beginning_and_ending_twice_are_as_once() -> None:
    count = len(gc.callbacks)
    for _ in range(2):
        begin_broker_process()
    assert len(gc.callbacks) == count + 1
    for _ in range(2):
        end_broker_process()
    assert len(gc.callbacks) == count


def test_while_the_collector_is_paused_nothing_is_visited_and_earlier_garbage_is_freed() -> None:
    Cycle()
    with paused_collector():
        assert not gc.isenabled()
        assert visible_cycles() == 0
        with paused_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
