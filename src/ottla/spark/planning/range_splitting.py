"""Ranges of offsets, split if they are large or if more tasks are requested.

Promises  the pieces are exactly the ranges, in order within a partition; the same input gives the
          same pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ottla.base.ids import TopicPartition

BATCH_SPLIT_OFFSETS = 1_000_000  # about a second of work for a task


@dataclass(frozen=True)
class TaskRange:
    """Offsets from `start` up to, and not including, `end`, of the topic with this id. The epoch is
    that of the leader which returned the end of the log when the range was planned."""

    partition: TopicPartition
    start: int
    end: int
    topic_id: bytes = b""  # empty if the cluster does not support topic ids
    end_epoch: int = -1  # -1 if it is not known

    @property
    def size(self) -> int:
        return max(0, self.end - self.start)


def split_evenly(whole: TaskRange, pieces: int) -> Iterator[TaskRange]:
    pieces = max(1, min(pieces, whole.size))
    bounds = [whole.start + whole.size * number // pieces for number in range(pieces + 1)]
    for start, end in pairwise(bounds):
        yield replace(whole, start=start, end=end)


def split_by_size(ranges: Sequence[TaskRange], offsets_max: int) -> list[TaskRange]:
    return [
        piece for whole in ranges for piece in split_evenly(whole, -(-whole.size // offsets_max))
    ]


def split_into(ranges: Sequence[TaskRange], pieces_min: int) -> list[TaskRange]:
    """At least `pieces_min` pieces of similar size; ranges below the average stay whole."""
    found = [each for each in ranges if each.size > 0]
    if not found or len(found) >= pieces_min:
        return found
    small, large, left = _part(found, pieces_min)
    total = sum(each.size for each in large)
    counts = [max(1, left * each.size // total) for each in large]
    for number in _largest_first(large, counts, left - sum(counts)):
        counts[number] += 1
    pieces = {id(each): [each] for each in small}
    for each, count in zip(large, counts, strict=True):
        pieces[id(each)] = list(split_evenly(each, count))
    return [piece for each in found for piece in pieces[id(each)]]


def _part(ranges: Sequence[TaskRange], pieces: int) -> tuple[list[TaskRange], list[TaskRange], int]:
    """Ranges below the average size of a piece, the others, and the pieces left for the others."""
    small: list[TaskRange] = []
    large = sorted(ranges, key=lambda each: each.size)
    while len(large) > 1 and large[0].size * pieces < sum(each.size for each in large):
        small.append(large.pop(0))
        pieces -= 1
    return small, large, max(pieces, len(large))


def _largest_first(ranges: Sequence[TaskRange], counts: list[int], missing: int) -> list[int]:
    """The ranges with the largest pieces, one for each piece that rounding down left over."""
    order = sorted(range(len(ranges)), key=lambda n: -ranges[n].size / counts[n])
    return [order[number % len(order)] for number in range(max(0, missing))]


def split_ranges(
    ranges: Sequence[TaskRange],
    *,
    min_partitions: int | None,
    max_records_per_partition: int | None,
) -> list[TaskRange]:
    """Each as large as one task may be."""
    pieces = [each for each in ranges if each.size > 0]
    if max_records_per_partition is not None:
        pieces = split_by_size(pieces, max_records_per_partition)
    if min_partitions is not None:
        pieces = split_into(pieces, min_partitions)
    return pieces
