"""Small ranges that share a task.

A task costs Spark and Python many milliseconds before it reads anything, as much as thousands of
records. With one task for each of many small partitions, a query would spend its time on that.

Promises  every range is in exactly one task; a large range has its own task; a task never has two
          ranges of one partition; the same input gives the same tasks, in the order of the ranges;
          there are at least `tasks_min` tasks if there are as many ranges.
Leaves    splitting large ranges to `range_splitting.py`, the size of records to
          `source/record_sizes.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ottla.base.ids import TopicPartition
from ottla.config.options import KIB, MIB
from ottla.spark.planning.range_splitting import TaskRange

TASK_BYTES = 32 * MIB  # at this size the fixed cost of a task is small
RECORD_BYTES_MIN = 128  # decoding a record has a cost, however small the record is
RANGE_BYTES = 256 * KIB  # and so has reading a partition, however few records it has
TASKS_MIN = 8
TASKS_PER_CORE = 2

Ranges = tuple[TaskRange, ...]


@dataclass(frozen=True)
class Packing:
    """The limits of tasks. `record_bytes` is the average size of a topic's records; records of
    other topics count as small."""

    tasks_min: int = TASKS_MIN
    offsets_max: int | None = None  # in one task
    record_bytes: Mapping[str, int] = field(default_factory=dict)

    def weight_of(self, piece: TaskRange) -> int:
        record_bytes = self.record_bytes.get(piece.partition.topic, RECORD_BYTES_MIN)
        return piece.size * max(record_bytes, RECORD_BYTES_MIN) + RANGE_BYTES

    def is_large(self, piece: TaskRange) -> bool:
        return self.weight_of(piece) >= TASK_BYTES // 2


def tasks_min_of(cores: int, min_partitions: int | None) -> int:
    """The work after reading, in the same task, may need a core however few the records are. How
    many cores the executors have is not known where a read is planned, only how many the driver's
    machine has; users with more set minPartitions."""
    return max(TASKS_MIN, TASKS_PER_CORE * cores, min_partitions or 0)


def has_small_ranges(pieces: Sequence[TaskRange], packing: Packing) -> bool:
    """Whether there is anything to pack."""
    if len(pieces) <= packing.tasks_min:
        return False
    return sum(not packing.is_large(each) for each in pieces) > 1


def pack(pieces: Sequence[TaskRange], packing: Packing) -> list[Ranges]:
    """The ranges of each task."""
    if not has_small_ranges(pieces, packing):
        return [(each,) for each in pieces]
    large = [number for number, each in enumerate(pieces) if packing.is_large(each)]
    small = [number for number, each in enumerate(pieces) if not packing.is_large(each)]
    packs = _Packs(pieces, packing, _packs_wanted(pieces, small, len(large), packing))
    for number in sorted(small, key=lambda each: -packing.weight_of(pieces[each])):
        packs.add(number)
    chosen = [[number] for number in large] + packs.numbers
    return [tuple(pieces[number] for number in sorted(each)) for each in sorted(chosen, key=min)]


def _packs_wanted(
    pieces: Sequence[TaskRange], small: Sequence[int], alone: int, packing: Packing
) -> int:
    weight = sum(packing.weight_of(pieces[each]) for each in small)
    wanted = max(-(-weight // TASK_BYTES), packing.tasks_min - alone)
    if packing.offsets_max is not None:
        offsets = sum(pieces[each].size for each in small)
        wanted = max(wanted, -(-offsets // packing.offsets_max))
    return max(1, min(wanted, len(small)))


class _Packs:
    """Each range goes to the task with the least work, or to a new one if it must not go there."""

    def __init__(self, pieces: Sequence[TaskRange], packing: Packing, count: int) -> None:
        self._pieces = pieces
        self._packing = packing
        self._by_weight = [(0, number) for number in range(count)]  # a heap
        self._offsets = [0] * count
        self._partitions: list[set[TopicPartition]] = [set() for _ in range(count)]
        self._numbers: list[list[int]] = [[] for _ in range(count)]

    @property
    def numbers(self) -> list[list[int]]:
        return [each for each in self._numbers if each]

    def add(self, number: int) -> None:
        piece = self._pieces[number]
        weight, pack = self._by_weight[0]
        if self._has_room(pack, piece):
            heapq.heapreplace(self._by_weight, (weight + self._packing.weight_of(piece), pack))
        else:
            pack = self._begin()
            heapq.heappush(self._by_weight, (self._packing.weight_of(piece), pack))
        self._numbers[pack].append(number)
        self._partitions[pack].add(piece.partition)
        self._offsets[pack] += piece.size

    def _has_room(self, pack: int, piece: TaskRange) -> bool:
        offsets_max = self._packing.offsets_max
        fits = offsets_max is None or self._offsets[pack] + piece.size <= offsets_max
        return fits and piece.partition not in self._partitions[pack]

    def _begin(self) -> int:
        self._offsets.append(0)
        self._partitions.append(set())
        self._numbers.append([])
        return len(self._numbers) - 1
