from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from ottla.base.memory import collector as base_collector
from ottla.base.memory.collector import (
    NO_FULL_PASS,
    THRESHOLDS,
    begin_broker_process,
    end_broker_process,
    freeze_new_objects,
    paused_collector,
    without_full_pass,
)


class Circle:
    """Goes only if somebody looks for garbage."""

    def __init__(self) -> None:
        self.itself = self


def circles() -> int:
    """How many the collector may still look at."""
    return sum(type(each) is Circle for each in gc.get_objects())


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    end_broker_process()
    gc.collect()
    assert gc.get_threshold() == thresholds


def test_what_was_made_to_last_is_not_looked_at_any_more() -> None:
    begin_broker_process()
    kept = Circle()
    assert circles() == 1
    freeze_new_objects(collects_first=True)
    assert circles() == 0
    assert kept.itself is kept


@pytest.mark.parametrize("collects_first", [True, False])
def test_garbage_is_frozen_only_without_a_collection_first(collects_first: bool) -> None:
    begin_broker_process()
    gc.disable()  # or chance would decide who looks
    try:
        Circle()
        freeze_new_objects(collects_first=collects_first)
        gc.unfreeze()
        assert circles() == (0 if collects_first else 1)
    finally:
        gc.enable()


def test_a_process_that_belongs_to_others_too_is_left_as_it_is() -> None:
    kept = Circle()
    freeze_new_objects(collects_first=True)
    assert circles() == 1
    assert gc.get_freeze_count() == 0
    assert kept.itself is kept


def test_while_the_collector_rests_nothing_is_looked_at_and_older_garbage_is_gone() -> None:
    Circle()
    with paused_collector():
        assert not gc.isenabled()
        assert circles() == 0
        with paused_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_no_full_pass_runs_until_the_last_large_work_has_ended() -> None:
    begin_broker_process()
    with without_full_pass():
        with without_full_pass():
            assert gc.get_threshold() == NO_FULL_PASS
        assert gc.get_threshold() == NO_FULL_PASS
    assert gc.get_threshold() == THRESHOLDS


def test_large_work_without_a_break_does_not_put_off_full_passes_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin_broker_process()
    monkeypatch.setattr(base_collector, "WITHOUT_FULL_PASS_S_MAX", -1.0)
    with without_full_pass(), without_full_pass():
        assert gc.get_threshold() == THRESHOLDS


def test_large_work_leaves_the_collector_of_others_alone() -> None:
    before = gc.get_threshold()
    with without_full_pass():
        assert gc.get_threshold() == before


def test_on_an_event_loop_full_passes_resume_a_moment_after_the_last_large_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base_collector, "RESUMED_AFTER_S", 0.05)

    async def story() -> None:
        begin_broker_process()
        for _ in range(3):
            with without_full_pass():
                await asyncio.sleep(0)
            assert gc.get_threshold() == NO_FULL_PASS, "the next part of the request may follow"
        with without_full_pass():
            await asyncio.sleep(0.1)
            assert gc.get_threshold() == NO_FULL_PASS, "others are in progress"
        while gc.get_threshold() != THRESHOLDS:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(story(), 30))


def test_on_an_event_loop_parts_that_follow_each_other_do_not_put_off_full_passes_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base_collector, "WITHOUT_FULL_PASS_S_MAX", 0.02)

    async def story() -> None:
        begin_broker_process()
        while gc.get_threshold() != THRESHOLDS:
            with without_full_pass():
                await asyncio.sleep(0.001)
                if gc.get_threshold() == THRESHOLDS:
                    return

    asyncio.run(asyncio.wait_for(story(), 30))
