"""Which rows of a batch a repair reads again."""

from __future__ import annotations

import pyarrow as pa

from ottla.pipelines.running.chosen_offsets import ChosenOffsets


def batch(*places: tuple[str, int, int]) -> pa.RecordBatch:
    names = ["topic", "partition", "offset"]
    kinds = [pa.string(), pa.int32(), pa.int64()]
    columns = zip(*places, strict=True)
    arrays = [pa.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names)


def test_only_rows_of_the_ranges_are_chosen() -> None:
    chosen = ChosenOffsets({("a", 0): [(2, 4), (7, 8)], ("a", 1): [(0, 1)], ("b", 0): [(5, 9)]})
    places = [(topic, partition, at) for topic in "abc" for partition in (0, 1) for at in range(9)]
    found = chosen.rows(batch(*places)).to_pylist()
    assert [tuple(each.values()) for each in found] == [
        ("a", 0, 2), ("a", 0, 3), ("a", 0, 7), ("a", 1, 0),
        ("b", 0, 5), ("b", 0, 6), ("b", 0, 7), ("b", 0, 8),
    ]  # fmt: skip


def test_a_batch_of_chosen_rows_is_not_copied() -> None:
    rows = batch(("a", 0, 2), ("a", 0, 3))
    assert ChosenOffsets({("a", 0): [(0, 9)]}).rows(rows) is rows
