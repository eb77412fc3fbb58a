"""Ranges of offsets for tasks."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.base.ids import TopicPartition
from ottla.spark.planning.range_splitting import TaskRange, split_evenly, split_ranges

RANGES = st.lists(
    st.tuples(st.integers(0, 10**12), st.integers(0, 10**6)), min_size=1, max_size=6
).map(
    lambda pairs: [
        TaskRange(TopicPartition("t", number), start, start + size)
        for number, (start, size) in enumerate(pairs)
    ]
)


def spans(pieces: list[TaskRange]) -> list[tuple[int, int, int]]:
    return [(each.partition.partition, each.start, each.end) for each in pieces]


def range_of(partition: int, start: int, end: int) -> TaskRange:
    return TaskRange(TopicPartition("t", partition), start, end)


def test_a_partition_stays_whole_unless_asked_otherwise() -> None:
    pieces = split_ranges(
        [range_of(0, 0, 10), range_of(1, 5, 5)], min_partitions=None, max_records_per_partition=None
    )
    assert spans(pieces) == [(0, 0, 10)]


def test_large_ranges_are_split_into_equal_pieces() -> None:
    pieces = split_ranges([range_of(0, 0, 10)], min_partitions=None, max_records_per_partition=4)
    assert spans(pieces) == [(0, 0, 3), (0, 3, 6), (0, 6, 10)]


def test_small_partitions_stay_whole_where_more_tasks_are_wanted() -> None:
    pieces = split_ranges(
        [range_of(0, 0, 1), range_of(1, 0, 100)], min_partitions=5, max_records_per_partition=None
    )
    assert spans(pieces) == [(0, 0, 1), (1, 0, 25), (1, 25, 50), (1, 50, 75), (1, 75, 100)]


def test_more_pieces_than_offsets_there_cannot_be() -> None:
    assert len(list(split_evenly(range_of(0, 7, 9), 5))) == 2


@given(RANGES, st.none() | st.integers(1, 50), st.none() | st.integers(1000, 10**6))
def test_the_pieces_are_exactly_the_ranges_in_order(
    ranges: list[TaskRange], pieces_min: int | None, records_max: int | None
) -> None:
    pieces = split_ranges(ranges, min_partitions=pieces_min, max_records_per_partition=records_max)
    for whole in ranges:
        own = [each for each in pieces if each.partition == whole.partition]
        assert all(each.size for each in own)
        joints = [whole.start, *(each.end for each in own)] if own else [whole.end]
        assert [each.start for each in own] == joints[:-1]
        assert joints[-1] == whole.end
    if records_max is not None:
        assert all(each.size <= records_max for each in pieces)
    if pieces_min is not None:
        assert len(pieces) >= min(pieces_min, sum(each.size for each in ranges))
