"""Ranges of offsets, as people write them."""

from __future__ import annotations

from ottla.pipelines.verbs.missing import TablePartition, parse_offsets

TOPICS = {"orders": "id"}


def test_offsets_that_overlap_are_read_once() -> None:
    found = parse_offsets(["orders:0:20-29,0-9", "orders:0:5-14", "orders:1:7"], TOPICS)
    assert found == {
        TablePartition("id", 0): [(0, 15), (20, 30)],
        TablePartition("id", 1): [(7, 8)],
    }
