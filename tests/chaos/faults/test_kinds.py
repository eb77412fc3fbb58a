"""How a run draws its faults."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from tests.chaos.faults.kinds import ALL, KINDS, draws, kinds_named


def test_every_kind_comes_once_before_any_comes_again() -> None:
    drawn = list(islice(draws(list(ALL), random.Random(1)), 3 * len(ALL)))
    for start in range(0, len(drawn), len(ALL)):
        assert {kind for kind, _ in drawn[start : start + len(ALL)]} == set(ALL)


def test_every_fault_of_a_kind_comes_once_before_any_comes_again() -> None:
    drawn = [fault for _, fault in islice(draws(["cut"], random.Random(2)), len(KINDS["cut"]))]
    assert {id(each) for each in drawn} == {id(each) for each in KINDS["cut"]}


def test_a_seed_gives_the_same_faults() -> None:
    def drawn(seed: int) -> list[int]:
        return [id(fault) for _, fault in islice(draws(list(ALL), random.Random(seed)), 50)]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


def test_kinds_are_named() -> None:
    assert kinds_named("kill, cut") == ["kill", "cut"]
    assert kinds_named("all") == list(ALL)
    with pytest.raises(ValueError, match="thunder is no kind of fault; there are kill,"):
        kinds_named("kill,thunder")
