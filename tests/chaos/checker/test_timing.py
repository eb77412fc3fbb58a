"""How long a transaction was open, as a reader of offsets sees it."""

from __future__ import annotations

from tests.chaos.checker.history import Observation, Quantity
from tests.chaos.checker.timing import longest_open_s


def seen(time_s: float, high: int, stable: int, key: str = "k") -> list[Observation]:
    return [
        Observation("watcher", time_s, Quantity.HIGH_WATERMARK, key, high),
        Observation("watcher", time_s, Quantity.LAST_STABLE_OFFSET, key, stable),
    ]


def test_a_last_stable_offset_that_stays_behind_is_an_open_transaction() -> None:
    observations = [*seen(1, 5, 5), *seen(2, 9, 5), *seen(3, 9, 9), *seen(10, 12, 9),
                    *seen(14, 20, 9), *seen(15, 20, 15), *seen(17, 25, 15)]  # fmt: skip
    assert longest_open_s(observations) == {"k": 4}


def test_partitions_where_nothing_is_open_wait_for_nothing() -> None:
    observations = [*seen(1, 5, 5), *seen(9, 5, 5), *seen(1, 7, 3, "l"), *seen(4, 7, 3, "l")]
    assert longest_open_s(observations) == {"k": 0, "l": 3}
