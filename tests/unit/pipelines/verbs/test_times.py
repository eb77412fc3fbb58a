"""Which offsets belong to a time, whatever the order of the timestamps."""

from __future__ import annotations

import numpy as np

from ottla.pipelines.verbs.times import Times, runs


def test_older_records_behind_newer_ones_belong_to_the_time() -> None:
    offsets = np.array([0, 1, 2, 4, 5, 6])
    timestamps = np.array([10, 20, 99, 15, 19, 20])
    assert runs([(offsets, timestamps)], Times(15, 20)) == [(4, 6)]
    assert runs([(offsets, timestamps)], Times(None, 21)) == [(0, 2), (4, 7)]
    assert runs([(offsets, timestamps)], Times(15, None)) == [(1, 7)]
    assert runs([], Times(15, 20)) == []
