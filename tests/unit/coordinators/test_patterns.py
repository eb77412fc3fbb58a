"""Patterns that clients send: RE2's, for the whole text, refused where they cost too much."""

from __future__ import annotations

import pytest

from ottla.coordinators.patterns import compile_pattern
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


def test_a_pattern_counts_for_the_whole_text() -> None:
    matches = compile_pattern("payments-[0-9]+", "Name")
    assert matches("payments-17")
    assert not matches("payments-17x")
    assert not matches("my-payments-17")


@pytest.mark.parametrize("pattern", ["(", "[a", "a(?=b)", r"(a)\1", "((a{100}){100}){100}"])
def test_what_re2_does_not_have_is_refused(pattern: str) -> None:
    with pytest.raises(BrokerError) as refused:
        compile_pattern(pattern, "Name")
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_pattern_too_large_for_a_text_is_refused_when_it_is_compared() -> None:
    matches = compile_pattern("(?:a?b?){0,400}", "Name")
    with pytest.raises(BrokerError) as refused:
        matches("a" * 32_767)
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_long_pattern_is_not_repeated_in_the_answer() -> None:
    with pytest.raises(BrokerError) as refused:
        compile_pattern("(" * 100_000, "Name")
    assert len(str(refused.value)) < 1000
