"""The last records of partitions in which most offsets hold none."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from ottla.base.ids import TopicPartition
from ottla.cli.consuming.tail import Ranges, last_records
from ottla.cli.records.record import TopicRecord


class Partitions:
    """Offsets that hold records, by partition; `read` is what a consumer would hand out."""

    def __init__(self, *held: list[int], end_offset: int) -> None:
        self.records = {TopicPartition("t", number): offsets for number, offsets in enumerate(held)}
        self.end_offset = end_offset
        self.offsets_read = 0

    @property
    def offsets(self) -> dict[TopicPartition, tuple[int, int]]:
        return dict.fromkeys(self.records, (0, self.end_offset))

    def read(self, ranges: Ranges) -> Iterator[list[TopicRecord]]:
        for place, (start, end) in ranges.items():
            self.offsets_read += end - start
            yield [record(place, each) for each in self.records[place] if start <= each < end]


def record(place: TopicPartition, offset: int) -> TopicRecord:
    value = b"%d" % offset
    return TopicRecord(value, None, (), *place, offset, timestamp_ms=1_000 + offset)


def everything(_record: TopicRecord) -> bool:
    return True


def places(records: list[TopicRecord]) -> list[tuple[int, int]]:
    return [(each.partition, each.offset) for each in records]


def test_gaps_and_markers_do_not_count() -> None:
    partitions = Partitions([*range(0, 100, 10)], end_offset=150)
    found = last_records(partitions.read, partitions.offsets, everything, 3)
    assert places(found) == [(0, 70), (0, 80), (0, 90)]


def test_a_partition_with_fewer_records_is_read_to_its_start() -> None:
    partitions = Partitions([0, 1], [5, 900, 901, 902], end_offset=1000)
    found = last_records(partitions.read, partitions.offsets, everything, 5)
    assert places(found) == [(0, 1), (1, 5), (1, 900), (1, 901), (1, 902)]


def test_no_records_are_asked_for_and_nothing_is_read() -> None:
    partitions = Partitions([*range(10)], end_offset=10)
    assert last_records(partitions.read, partitions.offsets, everything, 0) == []
    assert partitions.offsets_read == 0


def test_records_that_are_filtered_out_do_not_count() -> None:
    partitions = Partitions([*range(1000)], end_offset=1000)
    found = last_records(
        partitions.read, partitions.offsets, lambda each: each.offset % 100 == 7, 2
    )
    assert places(found) == [(0, 807), (0, 907)]
    assert partitions.offsets_read < 400


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_tail_of_all_records_and_not_much_more_is_read(seed: int) -> None:
    rng = Random(seed)
    end, count = 2000, rng.randrange(1, 40)
    held = sorted(rng.sample(range(end), rng.randrange(0, 200)))
    partitions = Partitions(held, end_offset=end)
    found = last_records(partitions.read, partitions.offsets, everything, count)
    assert [each.offset for each in found] == held[-count:]
    needed = end - held[-count] if len(held) >= count else end
    assert partitions.offsets_read <= min(end, 3 * max(needed, count))
