"""Open transactions against a plain list: many at once, and a high watermark that jumps."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest

from ottla.storage.producers.open_transactions import OpenTransactions

LIMIT = 2**63 - 1
PRODUCERS = range(6)
STEPS = 300


@dataclass
class Listed:
    """Every transaction that ever was: producer, first offset, offset of the marker or None."""

    all: list[tuple[int, int, int | None]] = field(default_factory=list)
    high_watermark: int = 0

    def begun_by(self, producer: int) -> int | None:
        return next((f for p, f, marker in self.all if p == producer and marker is None), None)

    def end(self, producer: int, marker: int) -> None:
        first = self.begun_by(producer)
        assert first is not None
        self.all[self.all.index((producer, first, None))] = (producer, first, marker)

    @property
    def undecided(self) -> list[tuple[int, int]]:
        return sorted((first, producer) for producer, first, marker in self.all if marker is None)

    @property
    def unstable(self) -> list[int]:
        return [
            first
            for _, first, marker in self.all
            if marker is None or marker >= self.high_watermark
        ]


@pytest.mark.parametrize("first_offset", [0, 2**31 - 10, LIMIT - 2 * STEPS])
@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_open_or_waits_for_replication_holds_back_readers(
    seed: int, first_offset: int
) -> None:
    random = Random(seed)
    transactions, listed = OpenTransactions(), Listed(high_watermark=first_offset)
    end = first_offset
    for _ in range(STEPS):
        producer = random.choice(PRODUCERS)
        first = listed.begun_by(producer)
        if random.random() < 0.2:  # it lags, then jumps over several markers
            listed.high_watermark = random.randint(listed.high_watermark, end)
            transactions.replicated_to(listed.high_watermark)
        elif first is None:
            transactions.begin(end, producer)
            listed.all.append((producer, end, None))
            end += 1
        elif random.random() < 0.5:
            listed.end(producer, end)
            completed = transactions.complete(producer, first, end, is_aborted=True)
            others = [first for first, _ in listed.undecided]
            assert completed == (producer, first, end, True, min(others, default=end + 1))
            end += 1
        check(transactions, listed)


def check(transactions: OpenTransactions, listed: Listed) -> None:
    undecided = listed.undecided
    assert transactions.first_unstable_offset == min(listed.unstable, default=None)
    assert transactions.first_undecided_offset == (undecided[0][0] if undecided else None)
    assert len(transactions) == len(undecided)
    assert transactions.is_empty == (not listed.unstable)


def test_markers_in_another_order_than_the_beginnings_are_waited_for_one_by_one() -> None:
    """Begin a b c, end b c a: each high watermark frees one marker, and the oldest counts."""
    transactions = OpenTransactions()
    for producer, first in (("a", 0), ("b", 1), ("c", 2)):
        transactions.begin(first, ord(producer))
    for producer, first, marker in (("b", 1, 3), ("c", 2, 4), ("a", 0, 5)):
        transactions.complete(ord(producer), first, marker, is_aborted=False)
    found = []
    for high_watermark in (3, 4, 5, 6):
        transactions.replicated_to(high_watermark)
        found.append(transactions.first_unstable_offset)
    assert found == [0, 0, 0, None]
    for producer, first in (("d", 6), ("e", 7), ("f", 8)):
        transactions.begin(first, ord(producer))
    for producer, first, marker in (("f", 8, 9), ("d", 6, 10), ("e", 7, 11)):
        transactions.complete(ord(producer), first, marker, is_aborted=False)
    transactions.replicated_to(11)  # two markers at once
    assert transactions.first_unstable_offset == 7
