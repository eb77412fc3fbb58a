"""Patterns that clients send: RE2's, for the whole text, refused where they cannot be checked."""

from __future__ import annotations

import sys

import pytest

from ottla.coordinators.patterns import compile_pattern
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


def refusal(pattern: str) -> BrokerError:
    with pytest.raises(BrokerError) as refused:
        compile_pattern(pattern)
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    return refused.value


def test_a_pattern_counts_for_the_whole_text() -> None:
    pytest.importorskip("re2")
    matches = compile_pattern("payments-[0-9]+")
    assert matches("payments-17")
    assert not matches("payments-17x")
    assert not matches("my-payments-17")


@pytest.mark.parametrize("pattern", ["(", "[a", "a(?=b)", r"(a)\1"])
def test_what_re2_does_not_have_is_refused(pattern: str) -> None:
    pytest.importorskip("re2")
    assert pattern in refusal(pattern).message.replace("\\\\", "\\")


def test_without_re2_a_client_is_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    assert "google-re2" in refusal("a.*").message
