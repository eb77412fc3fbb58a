"""Small ranges that share a task."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.base.ids import TopicPartition
from ottla.spark.planning.range_packing import (
    RANGE_BYTES,
    RECORD_BYTES_MIN,
    TASK_BYTES,
    TASKS_MIN,
    Packing,
    pack,
    tasks_min_of,
)
from ottla.spark.planning.range_splitting import TaskRange, split_ranges

TASK_OFFSETS = TASK_BYTES // RECORD_BYTES_MIN
RANGES = st.lists(
    st.tuples(st.integers(0, 10**12), st.integers(0, 3 * TASK_OFFSETS), st.sampled_from("ab")),
    max_size=60,
).map(
    lambda given: [
        TaskRange(TopicPartition(topic, number), start, start + size)
        for number, (start, size, topic) in enumerate(given)
    ]
)


def ranges_of(*sizes: int, topic: str = "t") -> list[TaskRange]:
    places = [TopicPartition(topic, number) for number in range(len(sizes))]
    return [TaskRange(place, 5, 5 + size) for place, size in zip(places, sizes, strict=True)]


def sizes_of(tasks: list[tuple[TaskRange, ...]]) -> list[list[int]]:
    return [[each.size for each in task] for task in tasks]


def test_a_million_records_in_many_partitions_need_few_tasks() -> None:
    for partitions in (60, 240):
        tasks = pack(ranges_of(*[10**6 // partitions] * partitions), Packing())
        assert len(tasks) == TASKS_MIN
        counts = [len(task) for task in tasks]
        assert max(counts) - min(counts) <= 1


def test_few_partitions_are_not_packed() -> None:
    assert sizes_of(pack(ranges_of(1, 2, 3), Packing())) == [[1], [2], [3]]


def test_the_largest_go_first_so_that_tasks_are_equal() -> None:
    tasks = pack(ranges_of(1000, 2000, 4000, 5000), Packing(tasks_min=2))
    assert sizes_of(tasks) == [[1000, 5000], [2000, 4000]]


def test_a_large_partition_stays_alone() -> None:
    tasks = pack(ranges_of(10, TASK_OFFSETS, 10, 10, TASK_OFFSETS // 2), Packing(tasks_min=1))
    assert sizes_of(tasks) == [[10, 10, 10], [TASK_OFFSETS], [TASK_OFFSETS // 2]]


def test_large_records_count_for_more() -> None:
    ranges = ranges_of(*[100] * 12)
    assert len(pack(ranges, Packing(tasks_min=1))) == 1
    assert len(pack(ranges, Packing(tasks_min=1, record_bytes={"t": 10**6}))) == 12
    assert len(pack(ranges, Packing(tasks_min=1, record_bytes={"t": 10**5}))) == 4


def test_partitions_cost_something_even_if_they_are_next_to_empty() -> None:
    per_task = TASK_BYTES // (RANGE_BYTES + RECORD_BYTES_MIN)
    assert len(pack(ranges_of(*[1] * 20 * per_task), Packing())) == 20


def test_as_many_tasks_as_asked_for() -> None:
    ranges = ranges_of(*[1] * 50)
    assert len(pack(ranges, Packing(tasks_min=30))) == 30
    assert len(pack(ranges, Packing(tasks_min=80))) == 50
    assert tasks_min_of(1, None) == TASKS_MIN
    assert tasks_min_of(64, None) == 128
    assert tasks_min_of(2, 500) == 500


def test_pieces_of_one_partition_never_share_a_task() -> None:
    pieces = split_ranges(ranges_of(9), min_partitions=None, max_records_per_partition=1)
    assert len(pack(pieces, Packing(tasks_min=2))) == 9


@given(RANGES, st.integers(1, 20), st.none() | st.integers(1000, 10**6), st.integers(0, 10**5))
def test_every_offset_is_in_exactly_one_task_within_the_limits(
    ranges: list[TaskRange], tasks_min: int, offsets_max: int | None, record_bytes: int
) -> None:
    pieces = split_ranges(ranges, min_partitions=None, max_records_per_partition=offsets_max)
    packing = Packing(tasks_min, offsets_max, {"a": record_bytes})
    tasks = pack(pieces, packing)
    packed = [each for task in tasks for each in task]
    assert sorted(packed, key=pieces.index) == pieces
    assert len(tasks) >= min(tasks_min, len(pieces))
    assert pack(pieces, packing) == tasks
    for task in tasks:
        assert sorted(task, key=pieces.index) == list(task)
        assert len({each.partition for each in task}) == len(task)
        if offsets_max is not None:
            assert sum(each.size for each in task) <= offsets_max
        if len(task) > 1:
            assert not any(packing.is_large(each) for each in task)
