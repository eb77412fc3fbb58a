"""Ranges of offsets, as people write them."""

from __future__ import annotations

from ottla.pipelines.verbs.missing import TablePartition, difference, joined_ranges, parse_offsets

TOPICS = {"orders": "id"}


def test_offsets_that_overlap_are_read_once() -> None:
    found = parse_offsets(["orders:0:20-29,0-9", "orders:0:5-14", "orders:1:7"], TOPICS)
    assert found == {
        TablePartition("id", 0): [(0, 15), (20, 30)],
        TablePartition("id", 1): [(7, 8)],
    }


def test_ranges_are_joined_over_their_smallest_gaps() -> None:
    ranges = [(0, 1), (2, 3), (10, 11), (12, 13), (30, 31)]
    assert joined_ranges(ranges, 5) == ranges
    assert joined_ranges(ranges, 3) == [(0, 3), (10, 13), (30, 31)]
    assert joined_ranges(ranges, 2) == [(0, 13), (30, 31)]
    assert joined_ranges(ranges, 1) == [(0, 31)]
    equal = [(each, each + 1) for each in range(0, 200, 2)]
    assert joined_ranges(equal, 10) == [(0, 199)]


def test_the_difference_of_ranges() -> None:
    first, second = TablePartition("id", 0), TablePartition("id", 1)
    one = {first: [(0, 10), (20, 30)], second: [(0, 2)]}
    other = {first: [(22, 24), (5, 21)]}
    assert difference(one, other) == {first: [(0, 5), (21, 22), (24, 30)], second: [(0, 2)]}
    assert difference(one, one) == {}
    assert difference(one, {first: [(0, 100)], second: [(1, 2)]}) == {second: [(0, 1)]}
