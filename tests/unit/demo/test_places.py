"""Differences by bucket and partition, and whether checker and audit have found the same."""

from demo.places import (
    Difference,
    Place,
    differences_of_drill,
    disagreements,
    find_differences,
    ranges_of,
    ranges_text,
)
from demo.scenario import MINUTE_MS, SHIFT_START_MS

FIRST, SECOND = "2026-03-02T04:00:00Z", "2026-03-02T04:10:00Z"


def place(offset: int, minute: int, partition: int = 1) -> Place:
    return Place(partition, offset, SHIFT_START_MS + minute * MINUTE_MS)


def test_offsets_are_grouped_by_ten_minutes_of_a_partition() -> None:
    lost = [place(7, 9), place(5, 0), place(6, 10), place(5, 0, partition=0)]
    assert find_differences(lost, [place(4, 1)]) == [
        Difference(FIRST, 0, [[5, 5]]),
        Difference(FIRST, 1, [[5, 5], [7, 7]], [[4, 4]]),
        Difference(SECOND, 1, [[6, 6]]),
    ]


def test_a_difference_names_bucket_partition_and_offsets() -> None:
    text = str(Difference(FIRST, 1, [[5, 9], [12, 12]], [[20, 20]]))
    assert text == (f"partition 1, bucket {FIRST}: lost offsets 5-9, 12; duplicated offsets 20")
    assert ranges_text(ranges_of(range(0, 20, 2))) == "0, 2, 4, 6, 8, ..."


def drilled(*partitions: tuple[str, int, list[list[int]], list[list[int]]]) -> list[Difference]:
    names = ("bucket", "partition", "missing", "doubled")
    found = [dict(zip(names, each, strict=True)) for each in partitions]
    return differences_of_drill({"partitions": found})


def test_checker_and_audit_agree_on_the_same_offsets() -> None:
    checker = find_differences([place(5, 0), place(6, 1)], [place(9, 12)])
    audit = drilled((SECOND, 1, [], [[9, 9]]), (FIRST, 1, [[5, 6]], []))
    assert disagreements(checker, audit) == []
    assert disagreements([], []) == []


def test_what_only_one_of_them_has_found_is_named() -> None:
    checker = find_differences([place(5, 0), place(6, 1)], [])
    audit = drilled((FIRST, 1, [[5, 5]], []))
    assert disagreements(checker, audit) == [
        f"only the checker found partition 1, bucket {FIRST}: lost offsets 5-6",
        f"only the audit found partition 1, bucket {FIRST}: lost offsets 5",
    ]
    assert disagreements([], audit) != []
