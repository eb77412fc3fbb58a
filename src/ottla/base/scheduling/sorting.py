"""Sorting in slices: short runs are sorted and then merged lazily."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice

from ottla.base.scheduling.steps import Steps

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
