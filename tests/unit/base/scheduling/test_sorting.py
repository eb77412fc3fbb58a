from __future__ import annotations

from operator import itemgetter
from random import Random

from ottla.base.scheduling.sorting import RUN_ITEMS, sorted_in_thread, sorting
from ottla.base.scheduling.steps import run_blocking


def test_items_come_in_order_and_as_often_as_they_were_given() -> None:
    rng = Random(5)
    for count in (0, 1, RUN_ITEMS, 3 * RUN_ITEMS + 7):
        items = [f"{rng.randrange(2 * RUN_ITEMS)}" for _ in range(count)]
        assert list(run_blocking(sorting(items))) == sorted(items)


def test_it_pauses_after_each_run() -> None:
    assert len(list(sorting(str(at) for at in range(5 * RUN_ITEMS)))) == 5


def test_a_thread_sorts_as_python_does() -> None:
    rng = Random(6)
    items = [(rng.randrange(100), at) for at in range(3 * RUN_ITEMS + 7)]
    assert list(sorted_in_thread(items, key=itemgetter(0))) == sorted(items, key=itemgetter(0))
