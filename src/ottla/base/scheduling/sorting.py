"""Sorting in slices: short runs are sorted and then merged lazily.

`list.sort` is one call of C code, which blocks every other thread: for a hundred thousand strings,
for a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Any, TypeVar

from ottla.base.scheduling.steps import Steps

T = TypeVar("T")
RUN_ITEMS = 1000


def sorting(items: Iterable[str]) -> Steps[Iterator[str]]:
    """An iterator over the sorted items. Each `next` takes a few microseconds at most."""
    runs = []
    unsorted = iter(items)
    while run := list(islice(unsorted, RUN_ITEMS)):
        run.sort()
        runs.append(run)
        yield 0
    return merge(*runs)


def sorted_in_thread(items: Iterable[T], key: Callable[[T], Any]) -> Iterator[T]:
    """As `sorted`, for a thread: others can run meanwhile."""
    runs = []
    unsorted = iter(items)
    while run := list(islice(unsorted, RUN_ITEMS)):
        run.sort(key=key)
        runs.append(run)
    return merge(*runs, key=key)
