"""Many random walks: which differences count, and how many that do not come again are too many."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.compatibility.differential.comparing import Difference
from tests.compatibility.differential.scripting import Run, Script, World
from tests.compatibility.walks import walking
from tests.compatibility.walks.playing import Brokers
from tests.compatibility.walks.walk import Walk, area_called
from tests.compatibility.walks.walking import PASSING_MAX, Tally, walk_all

from ottla.protocol.api_keys import ApiKey

RUN = Run(Script("walk", ApiKey.METADATA, (0,), lambda _talk: None, World.READY), 0)
DIFFERENCE = Difference(RUN, "ask", "error_code", "NONE", "UNKNOWN_MEMBER_ID")
WALK = Walk(area_called("log"), "1.0", ())


def tally_of(monkeypatch: pytest.MonkeyPatch, walks: int, differs: Iterator[bool]) -> Tally:
    def differences_of(_walk: Walk, _brokers: Brokers) -> list[Difference]:
        return [DIFFERENCE] if next(differs) else []

    monkeypatch.setattr(walking, "differences_of", differences_of)
    return walk_all([WALK] * walks, Brokers("", ""), lambda _text: None)


def test_walks_without_differences_are_good(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = tally_of(monkeypatch, 5, iter([False] * 5))
    assert tally.is_good
    assert tally.walks == 5


def test_a_difference_that_comes_again_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = tally_of(monkeypatch, 5, iter([True, True]))
    assert not tally.is_good
    assert len(tally.found) == tally.walks == 1


@pytest.mark.parametrize("count", [PASSING_MAX, PASSING_MAX + 1])
def test_a_few_differences_may_pass(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    tally = tally_of(monkeypatch, count, iter([True, False] * count))
    assert tally.is_good == (count == PASSING_MAX)
    assert str(tally).endswith(f"0 with a difference, {count} with one that did not come again")
