"""Which differences between random answers count, and how many transient ones are allowed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.compatibility.differential.comparing import Difference
from tests.compatibility.differential.scripting import BrokerState, Run, Script
from tests.compatibility.random_requests import comparison
from tests.compatibility.random_requests.comparison import TRANSIENT_MAX, Tally, compare_all
from tests.compatibility.random_requests.execution import Brokers
from tests.compatibility.random_requests.request_sequence import RequestSequence, area_called

from ottla.protocol.api_keys import ApiKey

RUN = Run(Script("random", ApiKey.METADATA, (0,), lambda _session: None, BrokerState.READY), 0)
DIFFERENCE = Difference(RUN, "ask", "error_code", "NONE", "UNKNOWN_MEMBER_ID")
SEQUENCE = RequestSequence(area_called("log"), "1.0", ())


def tally_of(monkeypatch: pytest.MonkeyPatch, sequences: int, differs: Iterator[bool]) -> Tally:
    def differences_of(_sequence: RequestSequence, _brokers: Brokers) -> list[Difference]:
        return [DIFFERENCE] if next(differs) else []

    monkeypatch.setattr(comparison, "differences_of", differences_of)
    return compare_all([SEQUENCE] * sequences, Brokers("", ""), lambda _text: None)


def test_sequences_without_differences_are_good(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = tally_of(monkeypatch, 5, iter([False] * 5))
    assert tally.is_good
    assert tally.sequences == 5


def test_a_difference_that_comes_again_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = tally_of(monkeypatch, 5, iter([True, True]))
    assert not tally.is_good
    assert len(tally.found) == tally.sequences == 1


@pytest.mark.parametrize("count", [TRANSIENT_MAX, TRANSIENT_MAX + 1])
def test_a_few_differences_may_pass(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    tally = tally_of(monkeypatch, count, iter([True, False] * count))
    assert tally.is_good == (count == TRANSIENT_MAX)
    assert str(tally).endswith(f"0 with a difference, {count} with one that did not come again")
