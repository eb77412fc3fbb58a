"""Sorting that does not keep the event loop: short runs are sorted, and merged as they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice

from ottla.base.steps import Steps

RUN_ITEMS = 1000


def sorting(items: Iterable[str]) -> Steps[Iterator[str]]:
    """The items in order. To read one of them takes some microseconds at most."""
    runs = []
    unsorted = iter(items)
    while run := list(islice(unsorted, RUN_ITEMS)):
        run.sort()
        runs.append(run)
        yield 0
    return merge(*runs)
