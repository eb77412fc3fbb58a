from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ottla.base.collector import begin_lasting, keep_lasting, paused_collector


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
    gc.unfreeze()
    gc.collect()
    gc.set_threshold(*thresholds)


def test_what_was_made_to_last_is_not_looked_at_any_more() -> None:
    begin_lasting()
    kept = Circle()
    assert circles() == 1
    keep_lasting(looks_first=True)
    assert circles() == 0
    assert kept.itself is kept


@pytest.mark.parametrize("looks_first", [True, False])
def test_garbage_is_kept_for_good_only_where_nobody_looks_first(looks_first: bool) -> None:
    begin_lasting()
    gc.disable()  # or chance would decide who looks
    try:
        Circle()
        keep_lasting(looks_first=looks_first)
        gc.unfreeze()
        assert circles() == (0 if looks_first else 1)
    finally:
        gc.enable()


def test_a_process_that_belongs_to_others_too_is_left_as_it_is() -> None:
    kept = Circle()
    keep_lasting(looks_first=True)
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
