from __future__ import annotations

import pytest

from ottla.cli.arguments.offset_ranges import At, AtTime, End, Position, Start
from ottla.cli.cluster.partition_offsets import within


@pytest.mark.parametrize(
    ("position", "found", "offset"),
    [
        (Start(), -1, 10),
        (Start(3), -1, 13),
        (Start(99), -1, 20),
        (End(), -1, 20),
        (End(3), -1, 17),
        (End(99), -1, 10),
        (At(15), -1, 15),
        (At(5), -1, 10),
        (At(25), -1, 20),
        (AtTime(1), 14, 14),
        (AtTime(1), -1, 20),
    ],
)
def test_every_position_lies_within_the_partition(
    position: Position, found: int, offset: int
) -> None:
    """Which has the offsets 10 to 19."""
    assert within(position, 10, 20, found) == offset
