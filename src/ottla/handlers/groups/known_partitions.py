"""The existing partitions of a request: offsets are stored only for these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ottla.base.steps import Steps

PARTITIONS_AT_ONCE = 50  # more are handled in slices


class HasIndex(Protocol):
    @property
    def partition_index(self) -> int: ...


class HasPartitions(Protocol):
    @property
    def partitions(self) -> Sequence[object]: ...


P = TypeVar("P", bound=HasIndex)
A = TypeVar("A")


def is_small(topics: Sequence[HasPartitions]) -> bool:
    """Whether a request is handled without slices."""
    few = len(topics) <= PARTITIONS_AT_ONCE
    return few and sum([len(each.partitions) for each in topics]) <= PARTITIONS_AT_ONCE


def parting(
    partitions: Sequence[P], count: int, refuse: Callable[[P], A]
) -> Steps[tuple[list[P], list[A]]]:
    """(the partitions below `count`, the results for the others)."""
    existing: list[P] = []
    refused: list[A] = []
    for at in range(0, len(partitions) or 1, PARTITIONS_AT_ONCE):
        for each in partitions[at : at + PARTITIONS_AT_ONCE]:
            if 0 <= each.partition_index < count:
                existing.append(each)
            else:
                refused.append(refuse(each))
        yield 0
    return existing, refused
